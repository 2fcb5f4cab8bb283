// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * testcodec.c - a shared library that calls itself through its procedure linkage table, as its
 * functions can be replaced. Built twice: with PREFIX testcodec for the library that hostile is
 * linked with, and with PREFIX latecodec for the one that it loads later.
 */
#include "testcodec.h"

#define PASTE(a, b) a##b
#define NAME(p, f)  PASTE(p, f)
#define encode	    NAME(PREFIX, _encode)
#define decode	    NAME(PREFIX, _decode)
#define block	    NAME(PREFIX, _block)

/* noipa: the compiler must neither inline these nor know what they do. */
__attribute__((noipa)) uint64_t block(const unsigned char *data, size_t len)
{
	uint64_t sum = len;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + data[i];
	return sum;
}

__attribute__((noipa)) uint64_t encode(const unsigned char *data, size_t len)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < len; at += TESTCODEC_BLOCK)
		sum ^= block(data + at, len - at < TESTCODEC_BLOCK ? len - at : TESTCODEC_BLOCK);
	return sum;
}

/* The result of one call is changed, so that this does not end in a jump. */
__attribute__((noipa)) uint64_t decode(const unsigned char *data, size_t len)
{
	return block(data, len < TESTCODEC_BLOCK ? len : TESTCODEC_BLOCK) + 1;
}
