// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every function of a real Go binary, named by HB_GO_BIN (/usr/local/go/bin/go for one): no site is
 * ever off an instruction boundary, and most are cheap. Prints the shares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codetest.h"
#include "sym/symtab.h"
#include "target/image.h"
#include "util/array.h"

/* What a Marshal is probed for: sizes in at most two registers each way. Nothing: the upper bound. */
static const struct site_want wants[] = {
	{.lang = HB_LANG_GO, .entry_regs = REG(AX) | REG(BX), .exit_regs = REG(BX) | REG(DI)},
	{.lang = HB_LANG_GO},
};

static struct image *im;
static struct symtab *tab;

/* Instructions of the function begin at the bits set: a decoder loop of the test's own. */
static u8 *boundaries(const struct code *c)
{
	u8 *at = calloc(c->len, 1);
	struct insn in;

	assert_non_null(at);
	for (size_t off = 0; off < c->len; off += in.len) {
		if (c->ops->decode(c->bytes + off, c->len - off, c->vaddr + off, &in)) {
			in.len = 1;
			continue;
		}
		at[off] = in.kind == INSN_CALL_REL || in.kind == INSN_CALL_IND ? 2 : 1;
	}
	return at;
}

static void expect_boundary(const struct code *c, const u8 *at, const struct site *s,
			    const char *name)
{
	struct insn in;

	if (s->vaddr < c->vaddr || s->vaddr - c->vaddr >= c->len || !at[s->vaddr - c->vaddr])
		fail_msg("%s: site %#llx is no instruction", name, s->vaddr);
	assert_int_equal(c->ops->decode(s->bytes, s->len, s->vaddr, &in), 0);
	assert_int_equal(in.len, s->len);
	assert_int_equal(in.cls, s->cls);
	assert_false(in.refused);
}

struct share {
	u32 all, cheap, taken, refused;
	u32 cls[HB_CLASS_NR];
};

static void count(struct share *n, int err, const struct site *s)
{
	n->all++;
	if (err) {
		n->refused++;
		return;
	}
	n->cls[s->cls]++;
	n->cheap += s->cls != HB_CLASS_STEP;
	n->taken += s->flags & HB_SITE_TAKEN;
}

static void print_share(const char *what, const struct share *n)
{
	print_message("%s: %u, emulated %u (%.1f %%; branch %u push %u call %u nop %u), "
		      "stepped %u, none %u, at the jbe %u\n",
		      what, n->all, n->cheap, n->all ? 100.0 * n->cheap / n->all : 0,
		      n->cls[HB_CLASS_BRANCH], n->cls[HB_CLASS_PUSH], n->cls[HB_CLASS_CALL],
		      n->cls[HB_CLASS_NOP], n->cls[HB_CLASS_STEP], n->refused, n->taken);
}

/* Return sites of every call in the function. The whole-function pass is bounded at 64 KiB here:
 * site__return() maps the function anew each time. */
static void check_returns(const struct code *c, const u8 *at, const char *name,
			  const struct site_want *want, struct share *n)
{
	u64 ra = 0;

	for (size_t off = 0; off < c->len && c->len <= 65536; off++) {
		struct site s;
		int err;

		if (!at[off])
			continue;
		if (ra == c->vaddr + off) {
			err = site__return(c, true, ra, want, &s);
			if (!err)
				expect_boundary(c, at, &s, name);
			count(n, err, &s);
		}
		ra = 0;
		if (at[off] == 2) {
			struct insn in;

			c->ops->decode(c->bytes + off, c->len - off, c->vaddr + off, &in);
			ra = c->vaddr + off + in.len;
		}
	}
}

static void check_function(const struct insn_ops *ops, const struct sym *sym,
			   const struct site_want *want, struct share *entry, struct share *ret)
{
	struct code c = {.ops = ops, .len = sym->size, .vaddr = sym->vaddr};
	struct site s = {0};
	const char *why;
	u8 *at;
	int err;

	c.bytes = image__at(im, sym->vaddr, sym->size);
	if (!c.bytes || !c.len)
		return;
	at = boundaries(&c);
	err = site__entry(&c, want, 0, &s, &why);
	if (!err)
		expect_boundary(&c, at, &s, sym->name);
	count(entry, err, &s);
	check_returns(&c, at, sym->name, want, ret);
	free(at);
}

static void test_no_site_of_a_real_binary_is_off_an_instruction(void **state)
{
	static const struct {
		const char *name;
		u32 kernel;
		const struct site_want *want;
		u32 cheap_pct; /* at least; of return sites */
	} run[] = {
		{"registers wanted, any kernel", 0, &wants[0], 35},
		{"registers wanted, 6.18", KERNEL_6_18, &wants[0], 35},
		{"nothing wanted, any kernel", 0, &wants[1], 60},
	};

	if (!tab)
		skip();
	for (size_t k = 0; k < sizeof(run) / sizeof(run[0]); k++) {
		const struct insn_ops *ops = insn_ops__find_on(EM_X86_64, run[k].kernel);
		struct share entry = {0}, ret = {0};

		/* Some of the functions: every return site maps its function anew. */
		for (size_t n = k; n < tab->nr; n += 7)
			check_function(ops, &tab->v[n], run[k].want, &entry, &ret);
		print_message("%s\n", run[k].name);
		print_share("  entries", &entry);
		print_share("  returns", &ret);
		assert_true(entry.all > 100 && entry.cheap * 100 >= entry.all * 80);
		assert_true(ret.cheap * 100 >= ret.all * run[k].cheap_pct);
	}
}

static const u8 *image_bytes(void *arg, u64 vaddr, size_t len)
{
	return image__at(arg, vaddr, len);
}

static double ms_since(const struct timespec *t0)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec - t0->tv_sec) * 1e3 + (double)(t.tv_nsec - t0->tv_nsec) / 1e6;
}

static void test_call_sites_of_the_json_functions_are_mostly_cheap(void **state)
{
	static const char *const names[] = {"encoding/json.Marshal",
					    "encoding/json.Unmarshal",
					    "encoding/json.MarshalIndent",
					    "encoding/json.(*Decoder).Decode",
					    "encoding/json.(*Encoder).Encode",
					    "os.ReadFile",
					    "fmt.Sprintf"};
	enum { NR = sizeof(names) / sizeof(names[0]) };
	struct site_callee callee[NR];
	struct code_range *range;
	struct share share[NR] = {0};
	u32 refused, pure = 0, found = 0;
	struct site_list l;
	struct timespec t0;

	if (!tab)
		skip();
	range = array_alloc(tab->nr, sizeof(*range));
	assert_non_null(range);
	for (size_t n = 0; n < tab->nr; n++)
		range[n] = (struct code_range){tab->v[n].vaddr, tab->v[n].vaddr + tab->v[n].size};
	for (u32 n = 0; n < NR; n++) {
		const struct sym *sym;

		if (symtab__find(tab, names[n], &sym, 1))
			callee[found++] = (struct site_callee){
				.vaddr = sym->vaddr, .func = n, .want = wants[0]};
	}
	site_list__init(&l);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), range, tab->nr, image_bytes, im,
				     callee, found, &l, &refused),
			 0);
	print_message("%zu call sites of %u functions, %u refused, in %.1f ms\n", l.nr, found,
		      refused, ms_since(&t0));
	for (size_t n = 0; n < l.nr; n++) {
		count(&share[l.v[n].func], 0, &l.v[n]);
		pure += l.v[n].flags & HB_SITE_PURE ? 1 : 0;
		assert_true(n == 0 || l.v[n - 1].ra < l.v[n].ra);
	}
	for (u32 n = 0; n < NR; n++)
		if (share[n].all)
			print_message("  %-32s %u of %u emulated\n", names[n], share[n].cheap,
				      share[n].all);
	print_message("  pure: %u\n", pure);
	site_list__fini(&l);
	free(range);
}

static int open_binary(void **state)
{
	const char *path = getenv("HB_GO_BIN");
	int go_err;

	if (!path) {
		print_message("skipped: HB_GO_BIN names no Go binary\n");
		return 0;
	}
	if (image__open(path, &im) || im->machine != EM_X86_64 || symtab__open(im, &tab, &go_err))
		return -1;
	return 0;
}

static int close_binary(void **state)
{
	symtab__close(tab);
	image__close(im);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_site_of_a_real_binary_is_off_an_instruction),
		cmocka_unit_test(test_call_sites_of_the_json_functions_are_mostly_cheap),
	};

	return cmocka_run_group_tests(tests, open_binary, close_binary);
}
