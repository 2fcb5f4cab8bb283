// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Copies and parts that compilers make of functions, by their symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "opened.h"
#include "sym/clones.h"

#include <string.h>

static void test_suffixes_tell_what_was_made(void **state)
{
	static const struct {
		const char *suffix;
		enum clone_kind kind;
	} t[] = {
		{".constprop.0", CLONE_PARAMS},
		{".isra.12", CLONE_RESULT},
		{".constprop.0.isra.0", CLONE_RESULT},
		{".isra.0.constprop.1", CLONE_RESULT},
		{".lto_priv.0", CLONE_COPY},
		{".localalias", CLONE_COPY},
		{".llvm.1234567890", CLONE_COPY},
		{".__uniq.123.llvm.456", CLONE_COPY},
		{".specialized.1", CLONE_PARAMS},
		{".part.0", CLONE_PART},
		{".part.0.constprop.0", CLONE_PART},
		{".part.0.isra.0", CLONE_PART},
		{".cold", CLONE_COLD},
		{".part.0.cold", CLONE_COLD},
		{".constprop.0.cold", CLONE_COLD},
		{".resolver", CLONE_NONE},
		{".constpropx.0", CLONE_NONE},
		{".constpro", CLONE_NONE},
		{".0", CLONE_NONE},
		{".", CLONE_NONE},
		{"..constprop.0", CLONE_NONE},
		{".constprop.", CLONE_NONE},
		{"", CLONE_NONE},
		{"constprop.0", CLONE_NONE},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		if (clone_kind(t[i].suffix) != t[i].kind)
			fail_msg("%s: %d, expected %d", t[i].suffix, clone_kind(t[i].suffix),
				 t[i].kind);
	}
}

static const struct symfile_elf symbols[] = {
	{SYMFILE_SYM("enc", CODE(0x00), 0x10, STT_FUNC)},
	{SYMFILE_SYM("enc.constprop.0", CODE(0x10), 0x10, STT_FUNC)},
	{SYMFILE_SYM("enc.constprop.1", CODE(0x20), 0x10, STT_FUNC)},
	{SYMFILE_SYM("enc.cold", CODE(0x30), 0x10, STT_FUNC)},
	{SYMFILE_SYM("enc.localalias", CODE(0x00), 0x10, STT_FUNC)},
	{SYMFILE_SYM("encode.constprop.0", CODE(0x40), 0x10, STT_FUNC)},
	{SYMFILE_SYM("half", CODE(0x50), 0x10, STT_FUNC)},
	{SYMFILE_SYM("half.part.0", CODE(0x60), 0x10, STT_FUNC)},
	{SYMFILE_SYM("only.isra.0", CODE(0x70), 0x10, STT_FUNC)},
	{SYMFILE_SYM("rest.part.0", CODE(0x80), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3foo3barEi", CODE(0x90), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3foo3barEi.constprop.0", CODE(0xa0), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3foo3barEi.cold", CODE(0xc0), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3foo3bazEi.isra.0", CODE(0xb0), 0x10, STT_FUNC)},
};

static struct opened opened(const char *spec, u32 want)
{
	struct symfile s = {.elf = symbols, .nr_elf = sizeof(symbols) / sizeof(*symbols)};
	struct opened o = open_symfile(&s);
	u32 nr;

	assert_int_equal(registry__probe(o.im, o.t, spec, &o.found, &nr), 0);
	assert_int_equal(nr, want);
	assert_int_equal(o.found.nr, want);
	return o;
}

static void expect(const struct func *f, const char *name, u64 vaddr, const char *clone)
{
	assert_string_equal(f->name, name);
	assert_int_equal(f->vaddr, vaddr);
	if (clone)
		assert_string_equal(f->clone, clone);
	else
		assert_null(f->clone);
}

static void test_copies_are_functions_of_the_same_name(void **state)
{
	struct opened o = opened("enc", 3);

	expect(&o.found.v[0], "enc", CODE(0x00), NULL);
	expect(&o.found.v[1], "enc", CODE(0x10), "enc.constprop.0");
	expect(&o.found.v[2], "enc", CODE(0x20), "enc.constprop.1");
	assert_null(o.found.v[0].part);
	opened__close(&o);
	/* One of them by its symbol is that one alone. */
	o = opened("enc.constprop.1=encode", 1);
	expect(&o.found.v[0], "enc.constprop.1", CODE(0x20), NULL);
	opened__close(&o);
}

static void test_a_function_that_is_there_as_a_copy_only_is_found(void **state)
{
	struct opened o = opened("only", 1);

	expect(&o.found.v[0], "only", CODE(0x70), "only.isra.0");
	opened__close(&o);
	o = opened("rest", 0); /* a part is no function */
	opened__close(&o);
}

static void test_a_part_is_told_and_not_probed(void **state)
{
	struct opened o = opened("half", 1);

	expect(&o.found.v[0], "half", CODE(0x50), NULL);
	assert_string_equal(o.found.v[0].part, "half.part.0");
	opened__close(&o);
}

static void test_copies_of_c_plus_plus_are_found_by_readable_names(void **state)
{
	struct opened o = opened("foo::bar(int)", 2);

	expect(&o.found.v[0], "foo::bar(int)", CODE(0x90), NULL);
	expect(&o.found.v[1], "foo::bar(int)", CODE(0xa0), "_ZN3foo3barEi.constprop.0");
	opened__close(&o);
	o = opened("foo::bar", 2);
	opened__close(&o);
	o = opened("_ZN3foo3barEi", 2);
	opened__close(&o);
	o = opened("foo::baz", 1);
	expect(&o.found.v[0], "foo::baz(int)", CODE(0xb0), "_ZN3foo3bazEi.isra.0");
	opened__close(&o);
}

/* Fewer parameters are in other registers: nothing is read from them. */
static void test_a_copy_with_other_parameters_shows_no_size(void **state)
{
	static const struct symfile_elf cjson[] = {
		{SYMFILE_SYM("cJSON_ParseWithLengthOpts", CODE(0x00), 0x10, STT_FUNC)},
		{SYMFILE_SYM("cJSON_ParseWithLengthOpts.constprop.0", CODE(0x10), 0x10, STT_FUNC)},
	};
	struct symfile s = {.elf = cjson, .nr_elf = 2, .interp = true, .dynamic = true};
	struct opened o = open_symfile(&s);

	opened__match(&o);
	assert_int_equal(o.found.nr, 2);
	assert_int_not_equal(o.found.v[0].size_in.kind, HB_VALUE_NONE);
	assert_int_equal(o.found.v[1].size_in.kind, HB_VALUE_NONE);
	assert_int_equal(o.found.v[1].err_kind, o.found.v[0].err_kind);
	assert_string_equal(o.found.v[1].name, "cJSON_ParseWithLengthOpts");
	opened__close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suffixes_tell_what_was_made),
		cmocka_unit_test(test_copies_are_functions_of_the_same_name),
		cmocka_unit_test(test_a_function_that_is_there_as_a_copy_only_is_found),
		cmocka_unit_test(test_a_part_is_told_and_not_probed),
		cmocka_unit_test(test_copies_of_c_plus_plus_are_found_by_readable_names),
		cmocka_unit_test(test_a_copy_with_other_parameters_shows_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
