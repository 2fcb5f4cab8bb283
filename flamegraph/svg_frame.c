// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * svg_frame.c - one box: its place in pixels, its colour, its name and what its tooltip says.
 *
 * Everything is computed in integers: the same picture on every machine. view.js computes the same
 * geometry again when it zooms.
 */
#include <string.h>

#include "flamegraph/label.h"
#include "flamegraph/svg_impl.h"
#include "util/units.h"

#define GAP_CENTIPX	 50u  /* between neighbours */
#define GAP_FROM_CENTIPX 400u /* narrower boxes have none: little would be left of them */

u64 share_of(u64 v, u64 sum)
{
	return sum ? (u64)(((unsigned __int128)v << 32) / sum) : 0;
}

/* ---- colours ---- */

s64 change_of(const struct picture *p, u32 node)
{
	const struct flame_tree *t = p->tree;
	u64 now = p->sum, base = t->sum[FLAME_COLOR];

	if (p->opts->absolute)
		now = base = now > base ? now : base;
	return (s64)share_of(t->total[FLAME_WIDTH][node], now) -
	       (s64)share_of(t->total[FLAME_COLOR][node], base);
}

static u32 square_root(u64 v)
{
	u64 root = 0;

	for (u64 bit = 1ULL << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= v)
			root |= bit;
	return (u32)root;
}

/* By the root of the change's part of the largest: small changes are to be seen beside a large one. */
static int diff_level(const struct picture *p, s64 change)
{
	u64 size = change < 0 ? (u64)-change : (u64)change;
	int level;

	if (!p->max_change)
		return 0;
	level = (int)square_root((u64)((unsigned __int128)size * 255 * 255 / p->max_change));
	return change < 0 ? -level : level;
}

/* Half way up where the node has as much of the one weight as of the other. */
static u32 heat_level(const struct picture *p, u32 node)
{
	const struct flame_tree *t = p->tree;
	u64 hot = share_of(t->total[FLAME_COLOR][node], t->sum[FLAME_COLOR]);
	u64 all = hot + share_of(t->total[FLAME_WIDTH][node], p->sum);

	return all ? (u32)(hot * 255 / all) : 0;
}

u32 box_color(const struct picture *p, u32 node)
{
	switch (p->opts->mode) {
	case FLAME_BY_DIFF:
		return flame_color_diff(diff_level(p, change_of(p, node)));
	case FLAME_BY_HEAT:
		return flame_color_heat(heat_level(p, node));
	default:
		return flame_color_name(p->opts->palette, flame_tree__name(p->tree, node));
	}
}

/* ---- numbers ---- */

static void add_count(struct strbuf *out, u64 v)
{
	char buf[32];

	strbuf__adds(out, format_count(buf, sizeof(buf), v));
}

void add_amount(struct strbuf *out, u64 v, const char *unit)
{
	size_t len = strlen(unit);
	char buf[32];

	if (!strcmp(unit, "ns")) {
		strbuf__adds(out, format_ns(buf, sizeof(buf), v));
		return;
	}
	if (!strcmp(unit, "bytes")) {
		strbuf__adds(out, format_bytes(buf, sizeof(buf), v));
		return;
	}
	add_count(out, v);
	strbuf__addc(out, ' ');
	if (v == 1 && !strcmp(unit, "samples"))
		len--;
	for (size_t i = 0; i < len; i++) /* the unit may be anything */
		if (unit[i] >= ' ' && unit[i] < 0x7f && !strchr("&<>\"'", unit[i]))
			strbuf__addc(out, unit[i]);
}

static void add_hundredths(struct strbuf *out, u64 v)
{
	strbuf__addf(out, "%llu.%02llu", v / 100, v % 100);
}

/* v * 10000 / sum, to the nearest. */
static u64 percent_hundredths(u64 v, u64 sum)
{
	return sum ? (u64)(((unsigned __int128)v * 10000 + sum / 2) / sum) : 0;
}

void add_percent(struct strbuf *out, u64 v, u64 sum)
{
	add_hundredths(out, percent_hundredths(v, sum));
	strbuf__addc(out, '%');
}

void add_points(struct strbuf *out, s64 change)
{
	u64 size = change < 0 ? (u64)-change : (u64)change;

	strbuf__addc(out, change < 0 ? '-' : '+');
	add_hundredths(out, percent_hundredths(size, 1ULL << 32));
}

/* ---- tooltips ---- */

static void add_difference(const struct picture *p, u32 node)
{
	u64 now = p->tree->total[FLAME_WIDTH][node], was = p->tree->total[FLAME_COLOR][node];
	struct strbuf *out = p->out;

	if (!was) {
		strbuf__adds(out, ", new");
	} else if (p->opts->absolute) {
		strbuf__adds(out, ", was ");
		add_amount(out, was, p->opts->unit);
		strbuf__addc(out, ' ');
		strbuf__addc(out, now < was ? '-' : '+');
		add_amount(out, now < was ? was - now : now - was, p->opts->unit);
	} else {
		strbuf__adds(out, ", was ");
		add_percent(out, was, p->tree->sum[FLAME_COLOR]);
		strbuf__adds(out, ", ");
		add_points(out, change_of(p, node));
		strbuf__adds(out, " points");
	}
}

static void add_heat(const struct picture *p, u32 node)
{
	u64 width = p->tree->total[FLAME_WIDTH][node], heat = p->tree->total[FLAME_COLOR][node];

	strbuf__adds(p->out, ", ");
	add_amount(p->out, heat, p->opts->color_unit);
	strbuf__adds(p->out, " (");
	add_percent(p->out, heat, p->tree->sum[FLAME_COLOR]);
	strbuf__adds(p->out, "), ");
	add_hundredths(p->out, width ? (u64)((unsigned __int128)heat * 100 / width) : 0);
	strbuf__adds(p->out, " each");
}

static const char *name_of(const struct flame_tree *t, u32 node)
{
	return node ? flame_tree__name(t, node) : "all";
}

/* The name, then on a line of its own what is known: view.js takes them apart at the newline. */
static void add_tooltip(const struct picture *p, u32 node)
{
	const char *name = name_of(p->tree, node);
	struct strbuf *out = p->out;

	strbuf__adds(out, "<title>");
	if (!label_add(out, name, FLAME_MAX_TITLE_BYTES))
		strbuf__addf(out, "\xe2\x80\xa6 (%zu bytes)", strlen(name));
	strbuf__addc(out, '\n');
	add_amount(out, p->tree->total[FLAME_WIDTH][node], p->opts->unit);
	strbuf__adds(out, ", ");
	add_percent(out, p->tree->total[FLAME_WIDTH][node], p->sum);
	if (p->opts->mode == FLAME_BY_DIFF)
		add_difference(p, node);
	else if (p->opts->mode == FLAME_BY_HEAT)
		add_heat(p, node);
	strbuf__adds(out, "</title>");
}

/* ---- boxes ---- */

static u64 centipx(const struct picture *p, u64 x)
{
	return (u64)(((unsigned __int128)x * p->inner_px * 100 + p->sum / 2) / p->sum);
}

static void add_box(const struct picture *p, const struct flame_box *b)
{
	u64 weight = p->tree->total[FLAME_WIDTH][b->node];
	u64 left = centipx(p, b->x), width = centipx(p, b->x + weight) - left;
	u32 level = p->opts->inverted ? b->depth : p->boxes.depth - b->depth;
	u32 y = p->head_px + level * p->opts->frame_height;
	u64 columns = width / COLUMN_CENTIPX;
	struct strbuf *out = p->out;

	strbuf__addf(out, "<g data-x=\"%llu\" data-w=\"%llu\">", b->x, weight);
	add_tooltip(p, b->node);
	if (width >= GAP_FROM_CENTIPX)
		width -= GAP_CENTIPX;
	left += FLAME_MARGIN * 100;
	strbuf__addf(out,
		     "<rect x=\"%llu.%02llu\" y=\"%u\" width=\"%llu.%02llu\" height=\"%u\" "
		     "fill=\"#%06x\"/>",
		     left / 100, left % 100, y, width / 100, width % 100, p->opts->frame_height - 1,
		     box_color(p, b->node));
	columns = width > 2 * TEXT_PAD * 100 ? (width - 2 * TEXT_PAD * 100) / COLUMN_CENTIPX : 0;
	if (columns >= 3) {
		left += TEXT_PAD * 100;
		strbuf__addf(out, "<text x=\"%llu.%02llu\" y=\"%u\">", left / 100, left % 100,
			     y + p->opts->frame_height / 2 + 4);
		label_add_columns(out, name_of(p->tree, b->node),
				  columns > 100000 ? 100000 : (u32)columns);
		strbuf__adds(out, "</text>");
	}
	strbuf__adds(out, "</g>\n");
}

void add_frames(struct picture *p)
{
	for (u32 i = 0; i < p->boxes.nr && !p->out->err; i++)
		add_box(p, &p->boxes.box[i]);
}
