/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * types.h - the integer names shared by the kernel side, the user side and the host-built tests.
 *
 * Under a vmlinux.h (which defines them itself) this file is empty. It must not include
 * <linux/types.h>: that clashes with vmlinux.h.
 */
#ifndef HBPROF_TYPES_H
#define HBPROF_TYPES_H

#ifndef __VMLINUX_H__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
#endif

#endif
