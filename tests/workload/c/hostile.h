/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostile.h - the probed functions of hostile.c, and the filter of seccomp.c.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stddef.h>
#include <stdint.h>

struct job {
	const unsigned char *data;
	size_t len;
	uint64_t (*inside)(void *arg); /* called in the middle; may be NULL */
	void *arg;
};

uint64_t codec(const struct job *job);
uint64_t codec_deep(unsigned int n);
int codec_compare(const void *a, const void *b);
uint64_t chain_a(uint64_t v);
uint64_t chain_b(uint64_t v);
uint64_t chain_c(uint64_t v);

/* From here on any system call but the few that a run needs kills the process. */
void seccomp_strict(void);

#endif
