// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* color.c - hue, saturation and lightness from a hash of the name; two scales between fixed ends. */
#include "flamegraph/color.h"

/* Ranges that the hash picks from. Hue in degrees, the others in percent. */
static const struct palette {
	u32 hue, hue_span, sat, sat_span, light, light_span;
} palettes[] = {
	[FLAME_HOT] = {8, 44, 80, 18, 62, 10},
	[FLAME_MEM] = {85, 70, 40, 25, 60, 12},
	[FLAME_IO] = {188, 32, 55, 25, 66, 12},
	[FLAME_HASH] = {0, 360, 50, 25, 70, 8},
};

/* FNV-1a (64 bit offset basis and prime of Fowler, Noll, Vo), stirred: near names, far colours. */
static u64 hash_name(const char *s)
{
	u64 h = 0xcbf29ce484222325ULL;

	for (; *s; s++)
		h = (h ^ (u8)*s) * 0x100000001b3ULL;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* One channel of HSL to RGB, by the formula of CSS Color 4, section 7.1, in units of 1/36000000. */
static u32 channel(u32 hue, u32 sat, u32 light, u32 n)
{
	u32 k = (n * 30 + hue) % 360;				  /* degrees: 30 a step */
	u32 amplitude = sat * (light < 50 ? light : 100 - light); /* of 10,000 */
	int slope = (int)k - 90, down = 270 - (int)k, v;

	v = slope < down ? slope : down; /* of 30 degrees */
	v = v > 30 ? 30 : v < -30 ? -30 : v;
	v = (int)light * 3000 - (int)amplitude * v; /* of 300,000 */
	return ((u32)v * 255 + 150000) / 300000;
}

u32 flame_color_name(enum flame_palette palette, const char *name)
{
	const struct palette *p = &palettes[palette];
	u64 h = hash_name(name);
	u32 hue = p->hue + (u32)(h % p->hue_span);
	u32 sat = p->sat + (u32)((h >> 20) % p->sat_span);
	u32 light = p->light + (u32)((h >> 40) % p->light_span);

	return channel(hue, sat, light, 0) << 16 | channel(hue, sat, light, 8) << 8 |
	       channel(hue, sat, light, 4);
}

static u32 blend(u32 from, u32 to, u32 level)
{
	u32 out = 0;

	for (u32 shift = 0; shift < 24; shift += 8) {
		u32 a = from >> shift & 0xff, b = to >> shift & 0xff;

		out |= ((a * (255 - level) + b * level + 127) / 255) << shift;
	}
	return out;
}

u32 flame_color_diff(int level)
{
	static const u32 none = 0xf2efe9, less = 0x5b9bff, more = 0xff5a4d;

	if (level < 0)
		return blend(none, less, level < -255 ? 255 : (u32)-level);
	return blend(none, more, level > 255 ? 255 : (u32)level);
}

u32 flame_color_heat(u32 level)
{
	return blend(0xfff7d6, 0xf26a21, level > 255 ? 255 : level);
}
