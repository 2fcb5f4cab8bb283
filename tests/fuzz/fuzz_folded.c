// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_folded.c - makes folded stacks of what such files should not hold, reads them, draws them with
 * options at random, and checks that the picture is well-formed XML. Arguments: how many, and the
 * seed; the same two give the same run. Under the sanitizers every fault ends the program; without
 * one it prints a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/folded.h"
#include "flamegraph/svg.h"

#define MAX_TEXT 8192

static u64 state;

static u64 random_below(u64 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

struct token {
	const char *s;
	size_t len;
};
#define T(s)                     \
	{                        \
		s, sizeof(s) - 1 \
	}

static const struct token tokens[] = {
	T("main"),
	T("a"),
	T("b"),
	T("json.Marshal"),
	T(";"),
	T(";"),
	T(";"),
	T(";"),
	T(" 1\n"),
	T(" 7\n"),
	T(" 12\r\n"),
	T("\t3\n"),
	T(" 100000\n"),
	T("\n"),
	T(" "),
	T("12"),
	T(" 0\n"),
	T(" -1\n"),
	T(" 1.5\n"),
	T(" 18446744073709551615\n"),
	T(" 18446744073709551616\n"),
	T(" 9223372036854775807\n"),
	T("\0"),
	T("\r"),
	T("\x1f\x8b"),
	T("]]>"),
	T("<![CDATA["),
	T("<b>&amp;\"'"),
	T("\xff"),
	T("\xc3"),
	T("\xe2\x80\xae"),
	T("\xef\xbf\xbf"),
	T("\xe6\xbc\xa2"),
	T("\xf0\x9f\x94\xa5"),
	T("\x1b[2J"),
	T("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
};

static size_t make_text(char *text)
{
	size_t len = 0, nr = random_below(400);

	while (nr--) {
		const struct token *t = &tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))];

		/* Half of the tokens come from the harmless beginning of the list. */
		if (random_below(2))
			t = &tokens[random_below(13)];
		if (len + t->len > MAX_TEXT)
			break;
		memcpy(text + len, t->s, t->len);
		len += t->len;
	}
	for (u64 i = random_below(4); len && i > 2; i--)
		text[random_below(len)] = (char)random_below(256);
	return len;
}

/* ---- the checker: what XML 1.0 wants of a document without a DTD ---- */

static const char *skip_past(const char *s, const char *what)
{
	s = strstr(s, what);
	return s ? s + strlen(what) : NULL;
}

static bool entity_ok(const char *s)
{
	static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(s, known[i], strlen(known[i])))
			return true;
	return false;
}

/* The place behind a tag; *depth follows. NULL: attributes that are not name="value". */
static const char *tag_end(const char *s, int *depth)
{
	bool quoted = false;

	*depth += s[1] == '/' ? -1 : 1;
	for (s++; *s && (quoted || *s != '>'); s++) {
		if (*s == '<' || (*s == '&' && !entity_ok(s)))
			return NULL;
		quoted ^= *s == '"';
	}
	if (!*s)
		return NULL;
	*depth -= s[-1] == '/';
	return s + 1;
}

static bool well_formed(const char *s)
{
	int depth = 0;

	s = skip_past(s, "?>");
	while (s && *s) {
		if (!strncmp(s, "<![CDATA[", 9)) {
			s = skip_past(s, "]]>");
		} else if (*s == '<') {
			s = tag_end(s, &depth);
			if (depth < 0)
				return false;
		} else if ((*s == '&' && !entity_ok(s)) || !strncmp(s, "]]>", 3) ||
			   ((u8)*s < ' ' && *s != '\n')) {
			return false;
		} else {
			s++;
		}
	}
	return s && !depth;
}

/* UTF-8 without what XML does not allow; overlong forms and surrogates included. */
static bool valid_utf8(const u8 *s)
{
	while (*s) {
		u32 n = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
		u32 v = n == 1 ? *s : *s & (0x7fu >> n);

		if ((*s >= 0x80 && *s < 0xc2) || *s > 0xf4)
			return false;
		for (u32 i = 1; i < n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return false;
			v = v << 6 | (s[i] & 0x3f);
		}
		if ((n == 3 && (v < 0x800 || (v >= 0xd800 && v < 0xe000) || v >= 0xfffe)) ||
		    (n == 4 && (v < 0x10000 || v > 0x10ffff)))
			return false;
		s += n;
	}
	return true;
}

/* ---- one run ---- */

static int read_text(struct flame_tree *t, enum flame_weight weight, bool reverse)
{
	char text[MAX_TEXT];
	size_t len = make_text(text);
	struct folded f;
	FILE *in;
	int err;

	if (!len)
		return 0;
	err = folded__init(&f, t, weight);
	if (err)
		return err;
	f.reverse = reverse;
	f.max_line = random_below(3) ? FOLDED_MAX_LINE : random_below(200);
	in = fmemopen(text, len, "r");
	err = in ? folded__read(&f, in) : -errno;
	if (in)
		fclose(in);
	folded__fini(&f);
	return err == -EMEDIUMTYPE ? 0 : err;
}

static int draw(const struct flame_tree *t)
{
	struct flame_opts o = flame_default_opts;
	struct strbuf out;
	int err;

	o.title = "<&\"\xff\x01";
	o.width = FLAME_MIN_WIDTH + (u32)random_below(1000);
	o.frame_height = 8 + (u32)random_below(30);
	o.min_share = random_below(2) ? 0 : (u32)random_below(FLAME_WHOLE);
	o.max_depth = (u32)random_below(4);
	o.mode = (enum flame_mode)random_below(3);
	o.palette = (enum flame_palette)random_below(4);
	o.absolute = random_below(2);
	o.inverted = random_below(2);
	o.script = random_below(2);
	strbuf__init(&out, 64u << 20);
	err = flame_svg(t, &o, &out, NULL);
	if (!err && strlen(out.s) != out.len)
		err = -EILSEQ;
	if (!err && (!well_formed(out.s) || !valid_utf8((const u8 *)out.s)))
		err = -EBADMSG;
	strbuf__fini(&out);
	return err;
}

/* What is written and read again is written the same. */
static int write_again(const struct flame_tree *t)
{
	struct flame_tree *again = NULL;
	struct strbuf one, two;
	struct folded f = {0};
	FILE *in = NULL;
	int err;

	strbuf__init(&one, 64u << 20);
	strbuf__init(&two, 64u << 20);
	folded_write(t, false, &one);
	err = one.err ? one.err : flame_tree__new(NULL, &again);
	if (!err)
		err = folded__init(&f, again, FLAME_WIDTH);
	if (!err && one.len) {
		in = fmemopen(one.s, one.len, "r");
		err = in ? folded__read(&f, in) : -errno;
	}
	if (!err)
		err = flame_tree__sum(again);
	if (!err) {
		folded_write(again, false, &two);
		err = two.err;
	}
	if (!err && (one.len != two.len || (one.len && memcmp(one.s, two.s, one.len))))
		err = -EBADE;
	if (err == -EMEDIUMTYPE) /* a name may begin as gzip does */
		err = 0;
	if (in)
		fclose(in);
	folded__fini(&f);
	flame_tree__free(again);
	strbuf__fini(&one);
	strbuf__fini(&two);
	return err;
}

/* 1: drawn, 0: nothing to draw, or -errno: what neither may be. */
static int try_one(void)
{
	struct flame_limits limits = flame_default_limits;
	bool reverse = random_below(3) == 0;
	struct flame_tree *t = NULL;
	int err;

	if (!random_below(3)) {
		limits.max_depth = 1 + (u32)random_below(6);
		limits.max_nodes = 1 + (u32)random_below(60);
		limits.max_names = random_below(300);
	}
	err = flame_tree__new(&limits, &t);
	if (!err)
		err = read_text(t, FLAME_WIDTH, reverse);
	if (!err && random_below(2))
		err = read_text(t, FLAME_COLOR, reverse);
	if (!err)
		err = flame_tree__sum(t);
	/* Reversed, a frame that ends in a blank may come last, where blanks do not count. */
	if (!err && !reverse)
		err = write_again(t);
	if (!err) {
		err = draw(t);
		err = !err ? 1 : err == -ENODATA && !t->sum[FLAME_WIDTH] ? 0 : err;
	}
	flame_tree__free(t);
	return err;
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	u64 drawn = 0;
	int err = 0;

	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (u64 i = 0; err >= 0 && i < count; i++) {
		err = try_one();
		drawn += err == 1;
		if (err < 0)
			printf("fuzz_folded: number %llu of seed %llu: %s\n", i, seed,
			       strerror(-err));
	}
	if (err < 0)
		return 1;
	/* A harness that never gets past the reader tests only that. */
	printf("fuzz_folded: %llu inputs of seed %llu, %llu of them drawn\n", count, seed, drawn);
	return count >= 1000 && drawn < count / 2;
}
