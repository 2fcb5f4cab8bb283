// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_capture.c - damages captures at random, reads them, and prints what could be read as a table
 * and as JSON. Arguments: how many, and the seed; the same two give the same run. Under the
 * sanitizers every fault ends the program; without one it prints a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/gz.h"
#include "report/report.h"
#include "tests/unit/sample.h"

static u64 state;

static u64 random_below(u64 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* What is likely to be at a limit somewhere. */
static const char *const tokens[] = {
	"null",
	"true",
	"[]",
	"{}",
	"[",
	"{",
	"\"",
	",",
	"-1",
	"0",
	"1",
	"1.5",
	"1e400",
	"4294967295",
	"4294967296",
	"\"18446744073709551615\"",
	"\"18446744073709551616\"",
	"\"9223372036854775807\"",
	"\"9223372036854775808\"",
	"\"\"",
	"\"\\u0000\"",
	"\"\xff\xfe\"",
	"\"AAAA\"",
	"\"//////////8B\"",
	"\"overflow\":true,",
	"\"ok\"",
	"\"error\"",
	"\"step\"",
};

static size_t put(char *text, size_t len, size_t cut, size_t at, const char *s, size_t slen)
{
	memmove(text + at + slen, text + at + cut, len - at - cut);
	memcpy(text + at, s, slen);
	return len - cut + slen;
}

/* The end of the JSON scalar that begins at `at`. */
static size_t scalar_end(const char *text, size_t len, size_t at)
{
	size_t end = at;

	if (text[at] == '"') {
		const char *q = memchr(text + at + 1, '"', len - at - 1);

		return q ? (size_t)(q - text) + 1 : len;
	}
	while (end < len && !strchr(",]}", text[end]))
		end++;
	return end;
}

/* One change that keeps most of the text's structure, or none of it. text has room for 4 KB more. */
static size_t mutate(char *text, size_t len)
{
	const char *token = tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))];
	size_t at = random_below(len), from, n;
	char chunk[256];

	switch (random_below(6)) {
	case 0: /* a byte */
		text[at] = (char)random_below(256);
		return len;
	case 1: /* a digit: numbers stay numbers */
		while (at < len && (text[at] < '0' || text[at] > '9'))
			at++;
		if (at < len)
			text[at] = (char)('0' + random_below(10));
		return len;
	case 2: /* a value */
		while (at < len && text[at] != ':')
			at++;
		if (++at >= len)
			return len;
		return put(text, len, scalar_end(text, len, at) - at, at, token, strlen(token));
	case 3: /* anywhere */
		return put(text, len, 0, at, token, strlen(token));
	case 4: /* a piece goes away */
		n = random_below(200);
		n = n < len - at ? n : len - at - 1;
		return put(text, len, n, at, "", 0);
	default: /* a piece is doubled elsewhere */
		from = random_below(len);
		n = random_below(sizeof(chunk));
		n = n < len - from ? n : len - from;
		memcpy(chunk, text + from, n);
		return put(text, len, 0, at, chunk, n);
	}
}

static int print_all(const struct recording *r)
{
	struct report_opts opts = {0};
	FILE *f = fopen("/dev/null", "w");
	int err = f ? 0 : -errno;

	for (u32 i = 0; !err && i < 3; i++) {
		opts.format = i == 2 ? REPORT_JSON : REPORT_TABLE;
		opts.by = i == 1 ? REPORT_BY_SIZE : REPORT_BY_CODEC;
		opts.width = (u32)random_below(200);
		err = report__print(r, &opts, f);
	}
	if (f)
		fclose(f);
	return err;
}

/* 1: read and printed, 0: refused, or -errno: what neither may be. */
static int try_capture(const char *bytes, size_t len)
{
	struct recording *r = NULL;
	char why[256] = "";
	int err;

	err = capture__read_mem(bytes, len, "fuzz", &r, why, sizeof(why));
	if (err)
		return why[0] && (err == -EBADMSG || err == -EPROTO || err == -EFBIG) ? 0 : err;
	err = print_all(r);
	recording__free(r);
	return err ? err : 1;
}

static int try_text(const char *sample, size_t len)
{
	size_t n = len, packed;
	u64 changes = 1 + random_below(3);
	char *text = malloc(len + 4096), *bytes;
	int err;

	if (!text)
		return -ENOMEM;
	memcpy(text, sample, len);
	while (changes--)
		n = mutate(text, n);
	err = gz_pack(text, n, &bytes, &packed);
	free(text);
	if (err)
		return err;
	err = try_capture(bytes, packed);
	free(bytes);
	return err;
}

static int try_bytes(const char *sample, size_t len)
{
	size_t n = random_below(4) ? len : random_below(len);
	char *bytes = malloc(n ? n : 1);
	int err;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, sample, n);
	for (u64 i = random_below(5); n && i; i--)
		bytes[random_below(n)] ^= (char)(1 << random_below(8));
	err = try_capture(bytes, n);
	free(bytes);
	return err;
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct recording *r = sample_recording();
	u64 readable = 0;
	char *bytes = NULL, *text = NULL;
	size_t len, textlen;
	const char *why;
	int err;

	sample_stacks(r);
	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	err = capture__write_mem(r, &bytes, &len);
	if (!err)
		err = gz_unpack(bytes, len, CAPTURE_MAX_TEXT, &text, &textlen, &why);
	for (u64 i = 0; err >= 0 && i < count; i++) {
		err = random_below(5) ? try_text(text, textlen) : try_bytes(bytes, len);
		readable += err == 1;
		if (err < 0)
			printf("fuzz_capture: number %llu of seed %llu: %s\n", i, seed,
			       strerror(-err));
	}
	free(text);
	free(bytes);
	recording__free(r);
	if (err < 0)
		return 1;
	/* A harness that never gets past the reader tests only that. */
	printf("fuzz_capture: %llu captures of seed %llu, %llu of them readable\n", count, seed,
	       readable);
	return count >= 1000 && readable < count / 100;
}
