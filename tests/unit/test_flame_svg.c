// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_flame_svg.c - names as XML, colours, and what a picture says of its frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "flamegraph/assets.h"
#include "flamegraph/folded.h"
#include "flamegraph/label.h"
#include "flamegraph/svg.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* ---- names ---- */

static char *label(const char *name, size_t max, bool *whole)
{
	struct strbuf b;
	bool all;

	strbuf__init(&b, 1 << 20);
	all = label_add(&b, name, max);
	if (whole)
		*whole = all;
	return strbuf__take(&b);
}

static void assert_label(const char *name, const char *expected)
{
	char *got = label(name, 1000, NULL);

	assert_string_equal(got, expected);
	free(got);
}

static void assert_columns(const char *name, u32 columns, const char *expected)
{
	struct strbuf b;
	char *got;

	strbuf__init(&b, 1 << 20);
	strbuf__adds(&b, "|");
	label_add_columns(&b, name, columns);
	got = strbuf__take(&b);
	assert_string_equal(got + 1, expected);
	free(got);
}

static void test_what_xml_reads_as_markup_becomes_entities(void **state)
{
	assert_label("a<b>&\"c\"'d'", "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
	assert_label("]]>", "]]&gt;");
	assert_label("</title><script>x()</script>",
		     "&lt;/title&gt;&lt;script&gt;x()&lt;/script&gt;");
}

static void test_control_bytes_are_shown(void **state)
{
	assert_label("a\tb\nc\x1b[0m\x7f", "a\\x09b\\x0ac\\x1b[0m\\x7f");
	assert_label("\xc2\x85", "\\u{85}");
}

static void test_what_is_not_utf8_is_shown_byte_by_byte(void **state)
{
	assert_label("\xff\xfe", "\\xff\\xfe");
	assert_label("\xc0\xaf", "\\xc0\\xaf");			  /* overlong */
	assert_label("\xed\xa0\x80", "\\xed\\xa0\\x80");	  /* a surrogate */
	assert_label("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	assert_label("a\xe2\x82", "a\\xe2\\x82");		  /* cut */
	assert_label("\xc3\xa4\xe6\xbc\xa2", "\xc3\xa4\xe6\xbc\xa2");
}

static void test_what_hides_or_turns_text_is_shown(void **state)
{
	assert_label("a\xe2\x80\xae"
		     "b",
		     "a\\u{202e}b"); /* right to left override */
	assert_label("a\xe2\x80\x8b"
		     "b",
		     "a\\u{200b}b"); /* zero width space */
	assert_label("\xef\xbb\xbf", "\\u{feff}");
	assert_label("\xef\xbf\xbe\xef\xbf\xbf", "\\u{fffe}\\u{ffff}"); /* not allowed in XML */
	assert_label("\xf3\xa0\x80\xa1", "\\u{e0021}");			/* a tag */
}

static void test_a_long_name_is_cut_between_code_points(void **state)
{
	bool whole;
	char *got = label("ab\xe6\xbc\xa2"
			  "cd",
			  4, &whole);

	assert_string_equal(got, "ab");
	assert_false(whole);
	free(got);
	got = label("ab\xe6\xbc\xa2", 5, &whole);
	assert_string_equal(got, "ab\xe6\xbc\xa2");
	assert_true(whole);
	free(got);
}

static void test_text_is_fitted_by_columns_and_never_splits_a_character(void **state)
{
	assert_columns("abcdef", 6, "abcdef");
	assert_columns("abcdef", 5, "abcd" ELLIPSIS);
	assert_columns("abcdef", 1, ELLIPSIS);
	assert_columns("abcdef", 0, "");
	assert_columns("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 3, "\xc3\xa4\xc3\xb6" ELLIPSIS);
	/* East Asian characters take two columns. */
	assert_columns("\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97");
	assert_columns("\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2" ELLIPSIS);
	assert_columns("a\x01"
		       "b",
		       5, "a" ELLIPSIS);
	assert_columns("a\x01"
		       "b",
		       6, "a\\x01b");
	assert_columns("a<<<", 3, "a&lt;" ELLIPSIS);
}

/* ---- colours ---- */

/* Relative luminance of sRGB (WCAG 2.1), good to a percent: the curve as its square and a bit. */
static double luminance(u32 rgb)
{
	static const double part[] = {0.0722, 0.7152, 0.2126};
	double sum = 0;

	for (u32 i = 0; i < 3; i++) {
		double c = (rgb >> (8 * i) & 0xff) / 255.0;

		sum += part[i] * (0.8 * c * c + 0.2 * c * c * c);
	}
	return sum;
}

static void test_all_colours_leave_black_text_readable(void **state)
{
	char name[16];

	for (u32 i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		for (u32 p = FLAME_HOT; p <= FLAME_HASH; p++)
			assert_true((luminance(flame_color_name(p, name)) + .05) / .05 >= 4.5);
	}
	for (int level = -255; level <= 255; level++) {
		assert_true((luminance(flame_color_diff(level)) + .05) / .05 >= 4.5);
		assert_true((luminance(flame_color_heat((u32)(level + 255) / 2)) + .05) / .05 >=
			    4.5);
	}
}

static void test_a_name_has_one_colour_and_other_names_others(void **state)
{
	assert_int_equal(flame_color_name(FLAME_HOT, "json.Marshal"),
			 flame_color_name(FLAME_HOT, "json.Marshal"));
	assert_int_not_equal(flame_color_name(FLAME_HOT, "a1"), flame_color_name(FLAME_HOT, "a2"));
	assert_int_not_equal(flame_color_name(FLAME_HOT, "a"), flame_color_name(FLAME_MEM, "a"));
}

static void test_each_palette_keeps_to_its_hue(void **state)
{
	char name[16];

	for (u32 i = 0; i < 500; i++) {
		u32 hot, mem, io;

		snprintf(name, sizeof(name), "g%u", i);
		hot = flame_color_name(FLAME_HOT, name);
		mem = flame_color_name(FLAME_MEM, name);
		io = flame_color_name(FLAME_IO, name);
		assert_true((hot >> 16) > (hot >> 8 & 0xff) && (hot >> 8 & 0xff) > (hot & 0xff));
		assert_true((mem >> 8 & 0xff) > (mem >> 16) && (mem >> 8 & 0xff) > (mem & 0xff));
		assert_true((io & 0xff) > (io >> 16));
	}
}

static void test_the_ends_of_the_scales_are_what_the_legend_shows(void **state)
{
	u32 less = flame_color_diff(-255), more = flame_color_diff(255);

	assert_true((less & 0xff) > (less >> 16));
	assert_true((more >> 16) > (more & 0xff));
	assert_int_equal(flame_color_diff(-1000), less);
	assert_int_equal(flame_color_diff(1000), more);
	assert_int_not_equal(flame_color_heat(0), flame_color_heat(255));
	assert_int_equal(flame_color_heat(256), flame_color_heat(255));
}

/* ---- pictures ---- */

static void read_lines(struct flame_tree *t, enum flame_weight weight, const char *text)
{
	struct folded f;
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(in);
	assert_int_equal(folded__init(&f, t, weight), 0);
	assert_int_equal(folded__read(&f, in), 0);
	fclose(in);
	folded__fini(&f);
}

/* A picture of these stacks, without script unless opts say so. */
static char *draw(const char *width, const char *color, const struct flame_opts *o,
		  struct flame_stats *stats)
{
	struct flame_tree *t = NULL;
	struct strbuf out;

	assert_int_equal(flame_tree__new(NULL, &t), 0);
	read_lines(t, FLAME_WIDTH, width);
	if (color)
		read_lines(t, FLAME_COLOR, color);
	assert_int_equal(flame_tree__sum(t), 0);
	strbuf__init(&out, 64 << 20);
	assert_int_equal(flame_svg(t, o, &out, stats), 0);
	flame_tree__free(t);
	return strbuf__take(&out);
}

static struct flame_opts still(void)
{
	struct flame_opts o = flame_default_opts;

	o.script = false;
	return o;
}

static void assert_has(const char *svg, const char *text)
{
	if (!strstr(svg, text))
		fail_msg("'%s' is not in %s", text, strstr(svg, "</desc>"));
}

static void test_a_tooltip_has_name_amount_and_share(void **state)
{
	struct flame_opts o = still();
	char *svg = draw("a;b 1\na;c 1234566\n", NULL, &o, NULL);

	assert_has(svg, "<title>c\n1,234,566 samples, 100.00%</title>");
	assert_has(svg, "<title>all\n1,234,567 samples, 100.00%</title>");
	assert_null(strstr(svg, "<title>b\n"));
	assert_has(svg, "1,234,567 samples in 2 frames; 1 narrower than 0.01% left out");
	assert_null(strstr(svg, "<script"));
	free(svg);
	o.unit = "ns";
	svg = draw("a 1500\nb 4500\n", NULL, &o, NULL);
	assert_has(svg, "<title>a\n1.50us, 25.00%</title>");
	free(svg);
}

static void test_pixels_of_neighbours_meet(void **state)
{
	struct flame_opts o = still();
	char *svg;

	o.width = 320; /* 300 px for frames: three thirds */
	svg = draw("a 1\nb 1\nc 1\n", NULL, &o, NULL);
	assert_has(svg, "<rect x=\"10.00\" y=\"50\" width=\"99.50\"");
	assert_has(svg, "<rect x=\"110.00\" y=\"50\" width=\"99.50\"");
	assert_has(svg, "<rect x=\"210.00\" y=\"50\" width=\"99.50\"");
	assert_has(svg, "<rect x=\"10.00\" y=\"67\" width=\"299.50\"");
	free(svg);
	o.inverted = true;
	svg = draw("a 1\nb 1\nc 1\n", NULL, &o, NULL);
	assert_has(svg, "<rect x=\"10.00\" y=\"50\" width=\"299.50\"");
	free(svg);
}

static void test_counts_near_the_end_of_u64_are_drawn_exactly(void **state)
{
	struct flame_opts o = still();
	char *svg = draw("a 9223372036854775807\nb 9223372036854775808\n", NULL, &o, NULL);

	assert_has(svg, "<title>b\n9,223,372,036,854,775,808 samples, 50.00%</title>");
	assert_has(svg, "data-x=\"9223372036854775807\" data-w=\"9223372036854775808\"");
	assert_has(svg, "<rect x=\"600.00\"");
	free(svg);
}

static void test_a_difference_is_in_points_of_the_whole(void **state)
{
	struct flame_opts o = still();
	struct flame_stats stats;
	char *svg;

	o.mode = FLAME_BY_DIFF;
	/* Twice as long a run: shares do not change by that. */
	svg = draw("a 100\nb 60\nnew 40\n", "a 50\nb 45\ngone;x 5\n", &o, &stats);
	assert_has(svg, "<title>a\n100 samples, 50.00%, was 50.00%, +0.00 points</title>");
	assert_has(svg, "<title>b\n60 samples, 30.00%, was 45.00%, -15.00 points</title>");
	assert_has(svg, "<title>new\n40 samples, 20.00%, new</title>");
	assert_has(svg, "Only in the base: 1 frame</text>");
	assert_has(svg, ">5 samples, 5.00%  gone</text>");
	assert_int_equal(stats.nr_gone, 1);
	free(svg);
	o.absolute = true;
	svg = draw("a 100\n", "a 40\n", &o, NULL);
	assert_has(svg, "<title>a\n100 samples, 100.00%, was 40 samples +60 samples</title>");
	free(svg);
}

static void test_unchanged_frames_have_the_colour_of_no_change(void **state)
{
	struct flame_opts o = still();
	char *svg, fill[32];

	o.mode = FLAME_BY_DIFF;
	svg = draw("a;b 10\n", "a;b 30\n", &o, NULL);
	snprintf(fill, sizeof(fill), "fill=\"#%06x\"", flame_color_diff(0));
	assert_has(strstr(svg, "<title>b\n"), fill);
	free(svg);
}

static void test_gone_frames_are_listed_largest_first_and_only_the_outermost(void **state)
{
	struct flame_opts o = still();
	char *svg, *first, *second;

	o.mode = FLAME_BY_DIFF;
	svg = draw("r;s 1\n", "r;s 1\nr;q;w;e;old;deep 3\nr;q;small 1\nr;s;t;u;v 9\n", &o, NULL);
	first = strstr(svg, ">9 samples, 64.29%  r;s;t</text>");
	second = strstr(svg, ">4 samples, 28.57%  r;q</text>");
	assert_non_null(first);
	assert_non_null(second);
	assert_true(first < second);
	assert_has(svg, "Only in the base: 2 frames</text>");
	free(svg);
}

static void test_the_second_weight_colours_by_its_part(void **state)
{
	struct flame_opts o = still();
	char *svg, fill[32];

	o.mode = FLAME_BY_HEAT;
	o.color_unit = "misses";
	svg = draw("a 10\nb 10\n", "a 30\n", &o, NULL);
	assert_has(svg, "<title>a\n10 samples, 50.00%, 30 misses (100.00%), 3.00 each</title>");
	assert_has(svg, "<title>b\n10 samples, 50.00%, 0 misses (0.00%), 0.00 each</title>");
	snprintf(fill, sizeof(fill), "fill=\"#%06x\"", flame_color_heat(0));
	assert_has(strstr(svg, "<title>b\n"), fill);
	free(svg);
}

static void test_a_name_of_10_kb_is_cut_in_its_tooltip_and_says_its_length(void **state)
{
	struct flame_opts o = still();
	char line[10003], *svg, *title;

	memset(line, 'n', 10000);
	memcpy(line + 10000, " 1", 3);
	svg = draw(line, NULL, &o, NULL);
	title = strstr(svg, "<title>nnn");
	assert_non_null(title);
	assert_int_equal(strspn(title + 7, "n"), FLAME_MAX_TITLE_BYTES);
	assert_has(title, "n" ELLIPSIS " (10000 bytes)\n1 sample, 100.00%</title>");
	free(svg);
}

static void test_title_and_unit_cannot_break_out(void **state)
{
	struct flame_opts o = still();
	char *svg;

	o.title = "\"><script>";
	o.unit = "<b>\n";
	svg = draw("a 1\n", NULL, &o, NULL);
	assert_has(svg, "aria-label=\"&quot;&gt;&lt;script&gt;\"");
	assert_has(svg, "<title>a\n1 b, 100.00%</title>");
	assert_null(strstr(svg, "<script"));
	free(svg);
}

static void test_the_same_stacks_in_another_order_are_the_same_bytes(void **state)
{
	struct flame_opts o = flame_default_opts;
	char *one = draw("a;b 1\na;c 2\nd 3\n", NULL, &o, NULL);
	char *two = draw("d 1\na;c 2\nd 2\na;b 1\n", NULL, &o, NULL);

	assert_string_equal(one, two);
	assert_has(one, "<script><![CDATA[");
	free(one);
	free(two);
}

static void test_no_asset_ends_its_cdata_section(void **state)
{
	assert_null(memmem(flame_js, (size_t)(flame_js_end - flame_js), "]]>", 3));
	assert_null(memmem(flame_css, (size_t)(flame_css_end - flame_css), "]]>", 3));
	assert_true(flame_js_end - flame_js > 1000);
}

static void test_a_tree_without_width_is_refused(void **state)
{
	struct flame_tree *t = NULL;
	struct strbuf out;

	assert_int_equal(flame_tree__new(NULL, &t), 0);
	assert_int_equal(flame_tree__sum(t), 0);
	strbuf__init(&out, 1 << 20);
	assert_int_equal(flame_svg(t, &flame_default_opts, &out, NULL), -ENODATA);
	flame_tree__free(t);
	strbuf__fini(&out);
}

static void test_an_output_above_its_limit_is_an_error(void **state)
{
	struct flame_tree *t = NULL;
	struct strbuf out;

	assert_int_equal(flame_tree__new(NULL, &t), 0);
	read_lines(t, FLAME_WIDTH, "a 1\n");
	assert_int_equal(flame_tree__sum(t), 0);
	strbuf__init(&out, 1000);
	assert_int_equal(flame_svg(t, &flame_default_opts, &out, NULL), -EFBIG);
	flame_tree__free(t);
	strbuf__fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_xml_reads_as_markup_becomes_entities),
		cmocka_unit_test(test_control_bytes_are_shown),
		cmocka_unit_test(test_what_is_not_utf8_is_shown_byte_by_byte),
		cmocka_unit_test(test_what_hides_or_turns_text_is_shown),
		cmocka_unit_test(test_a_long_name_is_cut_between_code_points),
		cmocka_unit_test(test_text_is_fitted_by_columns_and_never_splits_a_character),
		cmocka_unit_test(test_all_colours_leave_black_text_readable),
		cmocka_unit_test(test_a_name_has_one_colour_and_other_names_others),
		cmocka_unit_test(test_each_palette_keeps_to_its_hue),
		cmocka_unit_test(test_the_ends_of_the_scales_are_what_the_legend_shows),
		cmocka_unit_test(test_a_tooltip_has_name_amount_and_share),
		cmocka_unit_test(test_pixels_of_neighbours_meet),
		cmocka_unit_test(test_counts_near_the_end_of_u64_are_drawn_exactly),
		cmocka_unit_test(test_a_difference_is_in_points_of_the_whole),
		cmocka_unit_test(test_unchanged_frames_have_the_colour_of_no_change),
		cmocka_unit_test(test_gone_frames_are_listed_largest_first_and_only_the_outermost),
		cmocka_unit_test(test_the_second_weight_colours_by_its_part),
		cmocka_unit_test(test_a_name_of_10_kb_is_cut_in_its_tooltip_and_says_its_length),
		cmocka_unit_test(test_title_and_unit_cannot_break_out),
		cmocka_unit_test(test_the_same_stacks_in_another_order_are_the_same_bytes),
		cmocka_unit_test(test_no_asset_ends_its_cdata_section),
		cmocka_unit_test(test_a_tree_without_width_is_refused),
		cmocka_unit_test(test_an_output_above_its_limit_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
