/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern.h - names of functions with gaps. Everything stands for itself but
 *
 *	{word}	one or more letters, digits and underscores (bytes above 0x7f as well)
 *	{hex}	one or more hexadecimal digits
 *	{path}	one or more of anything but blanks, commas and ()<>[]*: a Go package's path
 *	{any}	anything, nothing included
 *	{{	a brace
 *
 * Function names are full of the signs that other pattern languages need escapes for: (*T).F, [...].
 */
#ifndef HBPROF_PATTERN_H
#define HBPROF_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <hbprof/types.h>

#define PATTERN_MAX 256 /* bytes, and elements */

struct pattern {
	u8 *element; /* a byte that stands for itself, or a gap */
	bool *gap;
	u32 nr;
	bool plain;   /* no gap: element is the name, terminated */
	char *anchor; /* the longest word that each name must contain; "": none */
};

/* 0, -ENOMEM, or -EINVAL with *why (static text). */
int pattern__init(struct pattern *p, const char *text, const char **why);
void pattern__fini(struct pattern *p);
/* The whole name must match. The time is bounded by the product of both lengths. */
bool pattern__match(const struct pattern *p, const char *name);
/* A cheap test to be made first, on the mangled name of C++ or Rust too: identifiers stand in it as
 * they are. */
bool pattern__may_match(const struct pattern *p, const char *name);

#endif
