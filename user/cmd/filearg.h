/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filearg.h - arguments that name files. */
#ifndef HBPROF_FILEARG_H
#define HBPROF_FILEARG_H

struct argp_state;

/*
 * arg, if it can name a file; an empty one is a variable of a script that was never set, and a usage
 * error, before any work is done. option: "-o", or NULL for an argument that stands alone.
 */
char *file_arg(struct argp_state *state, const char *option, char *arg);

#endif
