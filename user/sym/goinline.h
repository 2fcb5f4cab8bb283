/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * goinline.h - where functions of a Go program are inlined: calls of them there are none of their
 * code's. The runtime keeps that for stack traces, in stripped programs too; Go 1.20 and later.
 */
#ifndef HBPROF_GOINLINE_H
#define HBPROF_GOINLINE_H

#include "target/image.h"

struct go_inlined {
	const char *name;
	u32 places; /* told: how many copies of its body are in other functions */
};

/* Counts for every name, once each. 0, -ENOMEM; -ENOENT: not a Go program, or no such table in it;
 * -EBADMSG: a damaged one. The counts are 0 then. */
int goinline__count(const struct image *im, struct go_inlined *v, size_t nr);

#endif
