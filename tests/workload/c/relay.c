// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * relay.c - a library that calls libtestcodec.so, built twice with one layout: as librelay_a.so and as
 * librelay_b.so, of which hostile loads the second to where the first was.
 */
#include "testcodec.h"

uint64_t relay(const unsigned char *data, size_t len);

/* The result is changed, so that this does not end in a jump. */
uint64_t relay(const unsigned char *data, size_t len)
{
	return testcodec_block(data, len) + RELAY_NR;
}
