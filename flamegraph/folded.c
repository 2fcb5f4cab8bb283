// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * folded.c - lines of folded stacks into a tree. Writing them is folded_write.c's part.
 */
#include "flamegraph/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define BLOCK_BYTES (256u << 10) /* read at once */

static const char *const bad_texts[FOLDED_NR] = {
	[FOLDED_OK] = "used",
	[FOLDED_EMPTY] = "empty",
	[FOLDED_NO_COUNT] = "no count",
	[FOLDED_ZERO] = "a count of 0",
	[FOLDED_NEGATIVE] = "a negative count",
	[FOLDED_HUGE] = "a count too large",
	[FOLDED_EMPTY_FRAME] = "a frame without a name",
	[FOLDED_BINARY] = "binary data",
	[FOLDED_LONG] = "too long",
	[FOLDED_DEEP] = "too many frames",
	[FOLDED_FULL] = "too many different stacks",
};

const char *folded_bad_text(enum folded_bad bad)
{
	return (u32)bad < FOLDED_NR ? bad_texts[bad] : "";
}

u64 folded__nr_bad(const struct folded *f)
{
	u64 n = 0;

	for (u32 i = FOLDED_EMPTY + 1; i < FOLDED_NR; i++)
		n += f->lines[i];
	return n;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digits(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return len > 0;
}

/* The stack's length and the count behind it. */
static enum folded_bad split_count(const char *line, size_t len, size_t *stack_len, u64 *count)
{
	size_t at;
	u64 n = 0;

	while (len && is_blank(line[len - 1]))
		len--;
	if (!len)
		return FOLDED_EMPTY;
	for (at = len; at && !is_blank(line[at - 1]);)
		at--;
	*stack_len = at;
	while (*stack_len && is_blank(line[*stack_len - 1]))
		(*stack_len)--;
	if (!*stack_len)
		return FOLDED_NO_COUNT;
	if (line[at] == '-' && is_digits(line + at + 1, len - at - 1))
		return FOLDED_NEGATIVE;
	if (!is_digits(line + at, len - at))
		return FOLDED_NO_COUNT;
	for (; at < len; at++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (u64)(line[at] - '0'), &n))
			return FOLDED_HUGE;
	*count = n;
	return n ? FOLDED_OK : FOLDED_ZERO;
}

static size_t common_prefix(const char *a, const char *b, size_t max)
{
	size_t n = 0;
	u64 x, y;

	for (; max - n >= sizeof(x); n += sizeof(x)) {
		memcpy(&x, a + n, sizeof(x));
		memcpy(&y, b + n, sizeof(y));
		if (x != y)
			break;
	}
	while (n < max && a[n] == b[n])
		n++;
	return n;
}

/* How many frames this stack has in common with the last one, from the outermost on; *same_bytes: how
 * many bytes. */
static u32 common_frames(const struct folded *f, const char *stack, size_t len, size_t *same_bytes)
{
	size_t max = len < f->last_len ? len : f->last_len, same;
	u32 nr = f->nr_path;

	*same_bytes = 0;
	if (f->reverse || !nr)
		return 0;
	same = common_prefix(f->last, stack, max);
	*same_bytes = same;
	while (nr && (f->frame_end[nr - 1] > same ||
		      (f->frame_end[nr - 1] < len && stack[f->frame_end[nr - 1]] != ';')))
		nr--;
	return nr;
}

/* Splits the stack into f->frame and f->frame_end, from the frame `nr` on. */
static enum folded_bad split_frames(struct folded *f, const char *stack, size_t len, u32 nr,
				    u32 *nr_frames)
{
	size_t at = nr ? f->frame_end[nr - 1] : 0;
	const char *semicolon;

	if (nr) {
		if (at == len) {
			*nr_frames = nr;
			return FOLDED_OK;
		}
		at++; /* behind the semicolon */
	}
	for (;; at++) {
		if (nr >= f->tree->limits.max_depth)
			return FOLDED_DEEP;
		semicolon = memchr(stack + at, ';', len - at);
		f->frame[nr].name = stack + at;
		f->frame[nr].len = semicolon ? (size_t)(semicolon - stack) - at : len - at;
		if (!f->frame[nr].len)
			return FOLDED_EMPTY_FRAME;
		at += f->frame[nr].len;
		f->frame_end[nr++] = (u32)at;
		if (!semicolon)
			break;
	}
	*nr_frames = nr;
	return FOLDED_OK;
}

static void reverse_frames(struct flame_frame *frame, u32 nr)
{
	for (u32 i = 0; i < nr / 2; i++) {
		struct flame_frame swap = frame[i];

		frame[i] = frame[nr - 1 - i];
		frame[nr - 1 - i] = swap;
	}
}

/* Keeps what f->last points at, before the caller's bytes go away. */
static int keep_last(struct folded *f)
{
	if (!f->nr_path || f->last == f->kept)
		return 0;
	if (f->last_len > f->kept_cap) {
		char *bigger = realloc(f->kept, f->last_len * 2);

		if (!bigger)
			return -ENOMEM;
		f->kept = bigger;
		f->kept_cap = f->last_len * 2;
	}
	memcpy(f->kept, f->last, f->last_len);
	f->last = f->kept;
	return 0;
}

static int add_stack(struct folded *f, const char *stack, size_t len, u64 count,
		     enum folded_bad *what)
{
	size_t same_bytes;
	u32 same = common_frames(f, stack, len, &same_bytes), nr = 0;
	int err;

	f->nr_path = 0; /* the arrays of the last stack are being written over */
	*what = memchr(stack + same_bytes, '\0', len - same_bytes)
			? FOLDED_BINARY
			: split_frames(f, stack, len, same, &nr);
	if (*what != FOLDED_OK)
		return 0;
	if (f->reverse)
		reverse_frames(f->frame, nr);
	err = flame_tree__walk(f->tree, same ? f->path[same - 1] : 0, f->frame + same, nr - same,
			       f->path + same);
	if (err == -ENOSPC) {
		*what = FOLDED_FULL;
		return 0;
	}
	if (!err)
		err = flame_tree__count(f->tree, f->path[nr - 1], nr, f->weight, count);
	if (!err) {
		f->last = stack;
		f->last_len = len;
		f->nr_path = nr;
	}
	return err;
}

/* As folded__add_line(), with f->last pointing into the line afterwards. */
static int add_line(struct folded *f, const char *line, size_t len, enum folded_bad *bad)
{
	enum folded_bad what = FOLDED_OK;
	size_t stack_len = 0;
	u64 count = 0, sum;
	int err = 0;

	if (len > f->max_line)
		what = FOLDED_LONG;
	else
		what = split_count(line, len, &stack_len, &count);
	if (what != FOLDED_OK && what != FOLDED_LONG && memchr(line, '\0', len))
		what = FOLDED_BINARY;
	if (what == FOLDED_OK && __builtin_add_overflow(f->tree->sum[f->weight], count, &sum))
		what = FOLDED_HUGE;
	if (what == FOLDED_OK)
		err = add_stack(f, line, stack_len, count, &what);
	if (err)
		return err;
	f->lines[what]++;
	if (bad)
		*bad = what;
	return 0;
}

int folded__add_line(struct folded *f, const char *line, size_t len, enum folded_bad *bad)
{
	int err = add_line(f, line, len, bad);

	return err ? err : keep_last(f);
}

/* ---- streams ---- */

/*
 * The bytes of a line that is not yet complete, at the beginning of a buffer of max_line + 1 and a
 * block more. Of a line above the limit one byte too many is kept: its length says "too long".
 */
struct line_buffer {
	char *s;
	size_t len;
};

/* Adds the lines that are complete, keeps the rest. */
static int take_lines(struct folded *f, struct line_buffer *b)
{
	char *at = b->s, *end = b->s + b->len, *lf;
	int err = 0;

	while (!err && (lf = memchr(at, '\n', (size_t)(end - at)))) {
		err = add_line(f, at, (size_t)(lf - at), NULL);
		at = lf + 1;
	}
	if (!err)
		err = keep_last(f);
	b->len = (size_t)(end - at);
	if (b->len > f->max_line)
		b->len = f->max_line + 1;
	memmove(b->s, at, b->len);
	return err;
}

int folded__read(struct folded *f, FILE *in)
{
	struct line_buffer b = {.s = malloc(f->max_line + 1 + BLOCK_BYTES)};
	bool first = true;
	size_t n;
	int err = b.s ? 0 : -ENOMEM;

	errno = 0;
	while (!err && (n = fread(b.s + b.len, 1, BLOCK_BYTES, in)) > 0) {
		b.len += n;
		if (first && b.len >= 2 && !memcmp(b.s, "\x1f\x8b", 2)) { /* RFC 1952, 2.3.1 */
			err = -EMEDIUMTYPE;
			break;
		}
		first = false;
		err = take_lines(f, &b);
	}
	if (!err && b.len)
		err = folded__add_line(f, b.s, b.len, NULL);
	if (!err && ferror(in))
		err = errno ? -errno : -EIO;
	free(b.s);
	return err;
}

/* ---- life ---- */

int folded__init(struct folded *f, struct flame_tree *tree, enum flame_weight weight)
{
	u32 depth = tree->limits.max_depth ? tree->limits.max_depth : 1;

	*f = (struct folded){.tree = tree, .weight = weight, .max_line = FOLDED_MAX_LINE};
	f->frame = array_alloc(depth, sizeof(*f->frame));
	f->frame_end = array_alloc(depth, sizeof(*f->frame_end));
	f->path = array_alloc(depth, sizeof(*f->path));
	if (f->frame && f->frame_end && f->path)
		return 0;
	folded__fini(f);
	return -ENOMEM;
}

void folded__fini(struct folded *f)
{
	free(f->kept);
	free(f->frame);
	free(f->frame_end);
	free(f->path);
	*f = (struct folded){0};
}
