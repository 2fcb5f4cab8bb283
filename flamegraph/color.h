/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * color.h - the colour of a box, 0xRRGGBB. The same name has the same colour in every picture and on
 * every machine: integers only. All are light enough for black text: a contrast of 4.5 or more.
 */
#ifndef HBPROF_COLOR_H
#define HBPROF_COLOR_H

#include <hbprof/types.h>

enum flame_palette { FLAME_HOT, FLAME_MEM, FLAME_IO, FLAME_HASH };

u32 flame_color_name(enum flame_palette palette, const char *name);
/* -255: as blue as can be (less than the base) .. 0: nearly white .. 255: red (more). */
u32 flame_color_diff(int level);
/* 0: pale yellow .. 255: deep orange. */
u32 flame_color_heat(u32 level);

#endif
