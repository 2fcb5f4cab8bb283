// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_site.c - arbitrary bytes as functions through everything that chooses sites.
 *
 *	fuzz_site [COUNT [SEED]]
 *
 * Deterministic. The bytes are heap blocks of exactly their length, so that SAN=address sees a read
 * past the end. Half of them are noise, half are strung together from instructions that matter to
 * the rules. Whatever is chosen must lie inside the function, be what the decoder says, and not be
 * refused.
 */
#include "probe/site.h"
#include "util/units.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VADDR	 0x401000ULL
#define MAX_CODE 192

static u64 random_state;

/* xorshift64*, S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" */
static u64 next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dULL;
}

static u32 below(u32 n)
{
	return (u32)(next_random() >> 33) % n;
}

static const struct {
	u8 len;
	u8 bytes[9];
} parts[] = {
	{1, {0x55}},
	{1, {0x53}},
	{1, {0x5d}},
	{1, {0xc3}},
	{1, {0x90}},
	{1, {0xcc}},
	{2, {0x76, 0}},
	{2, {0x75, 0}},
	{2, {0xeb, 0}},
	{5, {0xe8, 0, 0, 0, 0}},
	{2, {0xff, 0xe0}},
	{3, {0xff, 0x24, 0xc1}},
	{4, {0x48, 0x63, 0x04, 0x82}},
	{3, {0x48, 0x01, 0xd0}},
	{4, {0x49, 0x3b, 0x66, 0x10}},
	{4, {0x48, 0x83, 0xec, 0x18}},
	{4, {0x48, 0x83, 0xc4, 0x18}},
	{5, {0x48, 0x89, 0x5c, 0x24, 0x08}},
	{5, {0x48, 0x8b, 0x5c, 0x24, 0x08}},
	{3, {0x48, 0x89, 0xc1}},
	{5, {0x0f, 0x1f, 0x44, 0, 0}},
	{3, {0xc5, 0xf8, 0x77}},
	{4, {0xf3, 0x0f, 0x1e, 0xfa}},
	{7, {0x48, 0x81, 0xec, 0xff, 0xff, 0xff, 0x7f}},
	{8, {0x48, 0x8d, 0xa4, 0x24, 0, 0, 0, 0x80}},
	{2, {0xf3, 0xa4}},
	{6, {0xff, 0x15}}, /* made to go through the word at the beginning */
};

/* Of arm64. Fields of those that branch are filled in. */
static const u32 words[] = {
	0xf9400b90, /* ldr x16, [x28, #16] */
	0xeb3063ff, /* cmp sp, x16 */
	0x54000009, /* b.ls */
	0x54000000, /* b.eq */
	0xb4000000, /* cbz x0 */
	0x36000000, /* tbz w0, #0 */
	0x14000000, /* b */
	0x94000000, /* bl */
	0xd65f03c0, /* ret */
	0xd65f0bff, /* retaa */
	0xd61f0220, /* br x17 */
	0xd61f0360, /* br x27 */
	0xd63f0100, /* blr x8 */
	0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
	0xf81c0ffe, /* str x30, [sp, #-64]! */
	0xd13fffff, /* sub sp, sp, #4095 */
	0x917fffff, /* add sp, sp, #4095, lsl #12 */
	0x910000bf, /* mov sp, x5 */
	0xaa0103f3, /* mov x19, x1 */
	0xf9000be1, /* str x1, [sp, #16] */
	0xf9400be1, /* ldr x1, [sp, #16] */
	0xf8607800, /* ldr x0, [x0, x0, lsl #3] */
	0x8b20c820, /* add x0, x1, w0, sxtw #2 */
	0xc85f7c20, /* ldxr x0, [x1] */
	0x90000010, /* adrp x16 */
	0xf9400211, /* ldr x17, [x16] */
	0xd503233f, /* paciasp */
	0xd503201f, /* nop */
	0x00000000, /* udf */
};

static size_t make_words(u8 *out)
{
	size_t nr = 1 + below(MAX_CODE / 4 - 1);
	bool noise = below(2);

	for (size_t n = 0; n < nr; n++) {
		u32 w = words[below(sizeof(words) / sizeof(words[0]))];
		u32 to = below(16) - 8; /* a branch somewhere near */

		if (noise)
			w = (u32)next_random();
		else if (w >> 24 == 0x54 || w >> 24 == 0xb4)
			w |= (to & 0x7ffff) << 5;
		else if (w >> 24 == 0x36)
			w |= (to & 0x3fff) << 5;
		else if (w << 8 == 0 && w)
			w |= (w >> 31 ? (u32)-n : to) & 0x3ffffff; /* a call is of itself */
		memcpy(out + 4 * n, &w, sizeof(w));
	}
	return 4 * nr - (below(4) ? 0 : below(4)); /* cut within a word */
}

static size_t make_code(u8 *out)
{
	size_t len = 0, want = 1 + below(MAX_CODE - 1);
	bool noise = below(2);

	while (len < want) {
		u32 n = below(sizeof(parts) / sizeof(parts[0]));
		size_t part = parts[n].len < want - len ? parts[n].len : want - len;

		if (noise) {
			out[len++] = (u8)next_random();
			continue;
		}
		memcpy(out + len, parts[n].bytes, part);
		if (parts[n].len == 2 && parts[n].bytes[1] == 0 && part == 2)
			out[len + 1] = (u8)(below(64) - 32); /* a branch somewhere near */
		if (parts[n].bytes[0] == 0xe8 && part == 5)
			memcpy(out + len + 1, &(s32){-(s32)(len + 5)}, 4); /* of itself */
		if (parts[n].bytes[0] == 0xff && part == 6)
			memcpy(out + len + 2, &(s32){-(s32)(len + 6)}, 4);
		len += part;
	}
	return len;
}

static void check(const struct code *c, const struct site *s, const char *what)
{
	struct insn in;

	if (s->vaddr < c->vaddr || s->vaddr - c->vaddr + s->len > c->len || s->len > SITE_BYTES ||
	    c->ops->decode(s->bytes, s->len, s->vaddr, &in) || in.len != s->len || in.refused ||
	    memcmp(s->bytes, c->bytes + (s->vaddr - c->vaddr), s->len)) {
		fprintf(stderr, "fuzz_site: bad %s site at +%llu\n", what, s->vaddr - c->vaddr);
		abort();
	}
}

static const u8 *code_at(void *arg, u64 vaddr, size_t len)
{
	const struct code *c = arg;

	return vaddr == c->vaddr && len == c->len ? c->bytes : NULL;
}

static u64 try_code(const struct code *c)
{
	struct site_want want = {.entry_regs = below(256),
				 .exit_regs = below(256),
				 .lang = below(2) ? HB_LANG_GO : HB_LANG_NATIVE};
	struct code_range range = {c->vaddr, c->vaddr + c->len};
	struct site_callee callee[] = {
		{.vaddr = c->vaddr, .want = want},
		{.vaddr = c->vaddr, .want = want, .via = SITE_VIA_SLOT},
	};
	struct site_list l;
	const char *why;
	struct site s;
	u64 found = 0;
	u32 refused;

	site_list__init(&l);
	if (!site__entry(c, &want, 0, &s, &why)) {
		check(c, &s, "entry");
		found++;
	}
	for (u64 ra = c->vaddr; ra <= c->vaddr + c->len; ra++)
		if (!site__return(c, below(2), ra, &want, &s)) {
			check(c, &s, "return");
			found++;
		}
	site__rets(c, 0, &l);
	site__calls(c->ops, &range, 1, code_at, (void *)c, callee, 2, &l, &refused);
	for (size_t n = 0; n < l.nr; n++)
		check(c, &l.v[n], "listed");
	found += l.nr + site__has_tails(c);
	l.nr = 0;
	site__landings(c, &l);
	for (size_t n = 0; n < l.nr; n++)
		check(c, &l.v[n], "landing");
	found += site__ra_words(c) != HB_RA_NOWHERE;
	site_list__fini(&l);
	return found;
}

int main(int argc, char **argv)
{
	u64 count = 3000, seed = 1, found = 0;
	u8 code[MAX_CODE];

	if ((argc > 1 && parse_u64(argv[1], 100000000, &count)) ||
	    (argc > 2 && parse_u64(argv[2], ~0ULL, &seed))) {
		fprintf(stderr, "usage: fuzz_site [COUNT [SEED]]\n");
		return 2;
	}
	random_state = seed * 0x9e3779b97f4a7c15ULL | 1;
	for (u64 n = 0; n < count; n++) {
		struct code c = {.vaddr = VADDR};
		u8 *exact;

		bool arm = below(2);
		u16 machine = arm ? EM_AARCH64 : EM_X86_64;

		c.ops = insn_ops__find_on(machine, below(2) ? 6 << 8 | 18 : 0);
		c.len = arm ? make_words(code) : make_code(code);
		exact = malloc(c.len);
		if (!exact)
			return 1;
		memcpy(exact, code, c.len);
		c.bytes = exact;
		found += try_code(&c);
		free(exact);
	}
	printf("fuzz_site: %llu bodies, %llu sites\n", count, found);
	return count && !found;
}
