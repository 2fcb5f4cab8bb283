/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* keys.h - bytes from a terminal into keys. */
#ifndef HBPROF_KEYS_H
#define HBPROF_KEYS_H

#include <stddef.h>

#include <hbprof/types.h>

/* A sequence of which the beginning was read. Zeros: none. */
struct keys {
	u8 state;
	u32 number;
};

/* n bytes make at most n keys: bytes, or enum view_key. Sequences of other keys are left out. An
 * escape that ends what was read is the key. Returns the number of keys. */
u32 keys__decode(struct keys *k, const u8 *bytes, size_t n, u32 *out);

#endif
