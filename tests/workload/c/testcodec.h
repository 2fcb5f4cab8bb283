/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * testcodec.h - the functions of libtestcodec.so and, with the other prefix, of liblatecodec.so.
 */
#ifndef TESTCODEC_H
#define TESTCODEC_H

#include <stddef.h>
#include <stdint.h>

#define TESTCODEC_BLOCK 64

/* One call of _block for each begun block of the data. */
uint64_t testcodec_encode(const unsigned char *data, size_t len);
uint64_t latecodec_encode(const unsigned char *data, size_t len);
/* One call of _block. */
uint64_t testcodec_decode(const unsigned char *data, size_t len);
uint64_t latecodec_decode(const unsigned char *data, size_t len);

uint64_t testcodec_block(const unsigned char *data, size_t len);
uint64_t latecodec_block(const unsigned char *data, size_t len);

#endif
