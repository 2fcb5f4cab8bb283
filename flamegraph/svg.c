// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * svg.c - the document around the frames: size, styles, head, legend, script.
 *
 * The head is written behind the frames, so that it lies on top of them when view.js keeps it in
 * sight while the picture is scrolled.
 */
#include "flamegraph/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/assets.h"
#include "flamegraph/label.h"
#include "flamegraph/svg_impl.h"
#include "util/units.h"

#define HEAD_PX 50u /* title and a line below it */
#define HEAD_SCRIPT_PX \
	90u /* and the lines for the path to the zoomed frame and for the pointer's */
#define FOOT_PX		10u
#define TITLE_COLUMN_PX 9u
#define SEARCH_PX	260u
#define SWATCHES	9u
#define SWATCH_PX	10u

const struct flame_opts flame_default_opts = {
	.title = "Flame graph",
	.unit = "samples",
	.color_unit = "samples",
	.width = 1200,
	.frame_height = 17,
	.min_share = FLAME_WHOLE / 10000,
	.palette = FLAME_HOT,
	.mode = FLAME_BY_NAME,
	.script = true,
};

/* A share in percent, with the digits it needs and no more than four behind the point. */
static void add_share(struct strbuf *out, u32 share)
{
	u32 percent = share / (FLAME_WHOLE / 100), rest = share % (FLAME_WHOLE / 100) / 1000;
	u32 digits = 4;

	while (digits && rest % 10 == 0) {
		rest /= 10;
		digits--;
	}
	strbuf__addf(out, "%u", percent);
	if (digits)
		strbuf__addf(out, ".%0*u", (int)digits, rest);
	strbuf__addc(out, '%');
}

static void add_left_out(const struct picture *p)
{
	char buf[32];

	if (p->boxes.nr_narrow) {
		strbuf__addf(p->out, "; %s narrower than ",
			     format_count(buf, sizeof(buf), p->boxes.nr_narrow));
		add_share(p->out, p->opts->min_share);
		strbuf__adds(p->out, " left out");
	}
	if (p->boxes.nr_deep)
		strbuf__addf(p->out, "; %s deeper than %u left out",
			     format_count(buf, sizeof(buf), p->boxes.nr_deep), p->opts->max_depth);
}

/* "1,234 samples against 1,200 in 56 frames; 7 narrower than 0.01% left out" */
static void add_summary(const struct picture *p)
{
	u32 nr = p->boxes.nr - 1;
	char buf[32];

	add_amount(p->out, p->sum, p->opts->unit);
	if (p->opts->mode == FLAME_BY_DIFF) {
		strbuf__adds(p->out, " against ");
		add_amount(p->out, p->tree->sum[FLAME_COLOR], p->opts->unit);
	} else if (p->opts->mode == FLAME_BY_HEAT) {
		strbuf__adds(p->out, " coloured by ");
		add_amount(p->out, p->tree->sum[FLAME_COLOR], p->opts->color_unit);
	}
	strbuf__addf(p->out, " in %s %s", format_count(buf, sizeof(buf), nr),
		     nr == 1 ? "frame" : "frames");
	add_left_out(p);
}

static u32 swatch_color(const struct picture *p, u32 i)
{
	if (p->opts->mode == FLAME_BY_DIFF)
		return flame_color_diff((int)(i * 510 / (SWATCHES - 1)) - 255);
	return flame_color_heat(i * 255 / (SWATCHES - 1));
}

/* Right of the summary, from right to left: view.js moves it as a whole. */
static void add_legend(const struct picture *p)
{
	static const u32 text_px = 5 * COLUMN_CENTIPX / 100;

	if (p->opts->mode == FLAME_BY_NAME)
		return;
	strbuf__addf(p->out,
		     "<g class=\"legend\" transform=\"translate(%u,0)\">"
		     "<text x=\"0\" y=\"40\" text-anchor=\"end\">more</text>",
		     p->opts->width - FLAME_MARGIN);
	for (u32 i = 0; i < SWATCHES; i++)
		strbuf__addf(p->out,
			     "<rect x=\"-%u\" y=\"33\" width=\"%u\" height=\"9\" "
			     "fill=\"#%06x\"/>",
			     text_px + (SWATCHES - i) * SWATCH_PX, SWATCH_PX, swatch_color(p, i));
	strbuf__addf(p->out, "<text x=\"-%u\" y=\"40\" text-anchor=\"end\">less</text></g>\n",
		     text_px + SWATCHES * SWATCH_PX + 6);
}

static void add_head(const struct picture *p)
{
	u32 room = p->opts->script && p->inner_px > 2 * SEARCH_PX ? p->inner_px - SEARCH_PX
								  : p->inner_px;

	strbuf__addf(p->out,
		     "<g class=\"head\">\n<rect class=\"back\" x=\"0\" y=\"0\" width=\"%u\" "
		     "height=\"%u\"/>\n<text class=\"title\" x=\"%u\" y=\"22\">",
		     p->opts->width, p->head_px - 4, FLAME_MARGIN);
	label_add_columns(p->out, p->opts->title, room / TITLE_COLUMN_PX);
	strbuf__addf(p->out, "</text>\n<text class=\"summary\" x=\"%u\" y=\"40\">", FLAME_MARGIN);
	add_summary(p);
	strbuf__adds(p->out, "</text>\n");
	add_legend(p);
	if (p->opts->script)
		strbuf__addf(p->out,
			     "<text class=\"crumbs\" x=\"%u\" y=\"59\"></text>\n"
			     "<text class=\"details\" x=\"%u\" y=\"77\" role=\"status\" "
			     "aria-live=\"polite\"></text>\n",
			     FLAME_MARGIN, FLAME_MARGIN);
	strbuf__adds(p->out, "</g>\n");
}

static void add_asset(struct strbuf *out, const char *tag, const char *from, const char *end)
{
	strbuf__addf(out, "<%s><![CDATA[\n", tag);
	strbuf__add(out, from, (size_t)(end - from));
	strbuf__addf(out, "]]></%s>\n", tag);
}

static void add_opening(const struct picture *p, u32 height)
{
	struct strbuf *out = p->out;

	strbuf__adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	strbuf__addf(out,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hbflame\" version=\"1.1\" "
		     "width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"figure\" "
		     "aria-roledescription=\"flame graph\" aria-label=\"",
		     p->opts->width, height, p->opts->width, height);
	label_add(out, p->opts->title, FLAME_MAX_TITLE_BYTES);
	strbuf__addf(out, "\" data-frame=\"%u\" data-margin=\"%u\" data-inverted=\"%u\">\n<title>",
		     p->opts->frame_height, FLAME_MARGIN, p->opts->inverted);
	label_add(out, p->opts->title, FLAME_MAX_TITLE_BYTES);
	strbuf__adds(out, "</title>\n<desc>");
	add_summary(p);
	strbuf__adds(out, "</desc>\n");
	add_asset(out, "style", flame_css, flame_css_end);
	strbuf__addf(out, "<rect class=\"back\" x=\"0\" y=\"0\" width=\"%u\" height=\"%u\"/>\n",
		     p->opts->width, height);
}

/* The height stands before what it depends on: the lines of the list are written first. */
static int add_document(struct picture *p, const u32 *gone, u32 nr_gone)
{
	struct strbuf list, *out = p->out;

	strbuf__init(&list, 64u << 20);
	p->out = &list;
	add_gone(p, gone, nr_gone);
	p->out = out;
	add_opening(p, p->head_px + p->frames_px + p->gone_px + FOOT_PX);
	strbuf__adds(out, "<g class=\"frames\" role=\"group\" aria-label=\"frames\">\n");
	add_frames(p);
	strbuf__adds(out, "</g>\n");
	strbuf__add(out, list.s, list.len);
	add_head(p);
	if (p->opts->script)
		add_asset(out, "script", flame_js, flame_js_end);
	strbuf__adds(out, "</svg>\n");
	if (list.err && !out->err)
		out->err = list.err;
	strbuf__fini(&list);
	return out->err;
}

static void find_max_change(struct picture *p)
{
	for (u32 i = 0; i < p->boxes.nr; i++) {
		s64 change = change_of(p, p->boxes.box[i].node);
		u64 size = change < 0 ? (u64)-change : (u64)change;

		if (size > p->max_change)
			p->max_change = size;
	}
}

static u64 min_weight(const struct flame_opts *o, u64 sum)
{
	u64 whole = FLAME_WHOLE;

	return (u64)(((unsigned __int128)sum * o->min_share + whole - 1) / whole);
}

int flame_svg(const struct flame_tree *t, const struct flame_opts *o, struct strbuf *out,
	      struct flame_stats *stats)
{
	struct picture p = {.tree = t, .opts = o, .out = out, .sum = t->sum[FLAME_WIDTH]};
	struct flame_cut cut = {.max_depth = o->max_depth};
	u32 *gone = NULL, nr_gone = 0;
	int err;

	if (!p.sum)
		return -ENODATA;
	cut.min_weight = min_weight(o, p.sum);
	err = flame_boxes__init(&p.boxes, t, &cut);
	if (err)
		return err;
	p.inner_px = o->width - 2 * FLAME_MARGIN;
	p.head_px = o->script ? HEAD_SCRIPT_PX : HEAD_PX;
	p.frames_px = (p.boxes.depth + 1) * o->frame_height;
	if (o->mode == FLAME_BY_DIFF) {
		find_max_change(&p);
		err = find_gone(t, &gone, &nr_gone);
	}
	if (!err)
		err = add_document(&p, gone, nr_gone);
	if (stats)
		*stats = (struct flame_stats){.nr_frames = p.boxes.nr - 1,
					      .nr_narrow = p.boxes.nr_narrow,
					      .nr_deep = p.boxes.nr_deep,
					      .nr_gone = nr_gone};
	free(gone);
	flame_boxes__fini(&p.boxes);
	return err;
}
