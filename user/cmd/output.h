/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output.h - where the result of a command goes: standard output, or a file that appears whole or not
 * at all; and captures read for one. Whatever fails has been logged, once, with what to do about it.
 */
#ifndef HBPROF_OUTPUT_H
#define HBPROF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct recording;

/* No path, or "-". */
bool output_is_stdout(const char *path);
/* print writes all to f and flushes it: 0 or -errno. what: "the report". 0 or -errno. */
int output__print(const char *path, const char *what, int (*print)(const void *arg, FILE *f),
		  const void *arg);
/* The same to stdout or stderr. */
int output__stream(FILE *f, const char *what, int (*print)(const void *arg, FILE *f),
		   const void *arg);
int output__bytes(const char *path, const char *what, const void *bytes, size_t len);
/* Has it been said that standard output cannot be written? */
bool output__said(void);
/* Says why what cannot be written to path, where fs_replace_file() or the like has refused. */
void output__say(const char *path, const char *what, int err);

/* capture__read() with its message logged. */
int input__capture(const char *file, struct recording **out);

#endif
