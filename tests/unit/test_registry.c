// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_registry.c - which functions of an image are codecs, and which a name given by a user means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "opened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int opened__probe(struct opened *o, const char *spec, u32 *nr)
{
	return registry__probe(o->im, o->t, spec, &o->found, nr);
}

/* ---- Go ---- */

static const struct symfile_go json_funcs[] = {
	{"runtime.text", 0x20, 0},
	{"encoding/json.Marshal", 0x100, 0},
	{"encoding/json.Unmarshal", 0x80, 0},
	{"encoding/json.(*Decoder).Decode", 0x80, 0},
	{"main.main", 0x40, 0},
	{"main.main", 0x20, 23},
	{"main.F[go.shape.struct { A int \"json:\\\"a=b\\\"\" }]", 0x40, 0},
	{"main.T.M", 0x20, 0},
	{"main.(*T).M", 0x20, 23},
	{"main.G=x", 0x20, 0},
	{"shared", 0x20, 0},
};

static const struct symfile_elf native_funcs[] = {
	{SYMFILE_SYM("_ZN3foo3barEi", CODE(0x400), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3foo3barEd", CODE(0x410), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3fooaSEi", CODE(0x420), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3fooeqEi", CODE(0x430), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN4demo3enc17h0123456789abcdefE", CODE(0x440), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3fooC1Ei", CODE(0x480), 0x10, STT_FUNC)},
	{SYMFILE_SYM("_ZN3fooC2Ei", CODE(0x480), 0x10, STT_FUNC)},
	{SYMFILE_SYM("chosen", CODE(0x450), 0x10, STT_GNU_IFUNC)},
	{SYMFILE_SYM("versioned@@V2", CODE(0x450), 0x10, STT_GNU_IFUNC)},
	{SYMFILE_SYM("versioned@V1", CODE(0x460), 0x10, STT_FUNC)},
	{SYMFILE_SYM("shared", CODE(0x470), 0x10, STT_FUNC)},
	{SYMFILE_SYM("imported", 0, 0, STT_FUNC), .dyn = true, .import = true},
};

static struct symfile go_program(void)
{
	return (struct symfile){
		.go = json_funcs,
		.nr_go = sizeof(json_funcs) / sizeof(json_funcs[0]),
		.elf = native_funcs,
		.nr_elf = sizeof(native_funcs) / sizeof(native_funcs[0]),
		.dynamic = true,
	};
}

static void test_go_codecs_are_found_with_their_registers(void **state)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);
	const struct func *f;

	opened__match(&o);
	assert_int_equal(o.found.nr, 3);
	f = func_named(&o, "encoding/json.Marshal");
	assert_string_equal(f->codec, "encoding/json");
	assert_string_equal(f->op, "encode");
	assert_string_equal(f->library, "encoding/json");
	assert_int_equal(f->lang, HB_LANG_GO);
	assert_int_equal(f->vaddr, CODE(0x20));
	assert_int_equal(f->size, 0x100);
	assert_value(&f->size_in, HB_VALUE_NONE, 0, 0);
	assert_value(&f->size_out, HB_VALUE_REG, BX, 0);
	assert_value(&f->err, HB_VALUE_REG, DI, 0);
	assert_int_equal(f->err_kind, HB_ERR_NONZERO);
	assert_null(f->note);
	f = func_named(&o, "encoding/json.Unmarshal");
	assert_value(&f->size_in, HB_VALUE_REG, BX, 0);
	assert_value(&f->err, HB_VALUE_REG, AX, 0);
	f = func_named(&o, "encoding/json.(*Decoder).Decode");
	assert_string_equal(f->op, "decode");
	assert_string_equal(f->note, "contains the reader's waiting time");
	opened__close(&o);
}

static void test_arm64_has_registers_of_its_own(void **state)
{
	struct symfile s = go_program();
	struct opened o;
	const struct func *f;

	s.machine = EM_AARCH64;
	o = open_symfile(&s);
	opened__match(&o);
	f = func_named(&o, "encoding/json.Marshal");
	assert_value(&f->size_out, HB_VALUE_REG, 1, 0);
	assert_value(&f->err, HB_VALUE_REG, 3, 0);
	opened__close(&o);
}

static void test_unknown_machine_is_refused(void **state)
{
	struct symfile s = {.machine = EM_RISCV};
	struct opened o = open_symfile(&s);

	assert_int_equal(registry__match(o.r, o.im, o.t, NULL, &o.found, &o.rep), -ENOTSUP);
	assert_int_equal(o.found.nr, 0);
	opened__close(&o);
}

static void test_report_counts_what_a_linked_package_lacks(void **state)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);

	opened__match(&o);
	assert_string_equal(o.rep.linked, "encoding/json");
	assert_int_equal(o.rep.nr_absent, 5); /* MarshalIndent, Encode, Valid, Compact, Indent */
	opened__close(&o);
}

static void test_linked_package_without_its_functions_is_told_from_none(void **state)
{
	static const struct symfile_go inlined[] = {{"encoding/json.checkValid", 0x20, 0}};
	static const struct symfile_go none[] = {{"encoding/jsonx.Marshal", 0x20, 0}};
	struct symfile s = {.go = inlined, .nr_go = 1};
	struct opened o = open_symfile(&s);

	opened__match(&o);
	assert_int_equal(o.rep.nr_found, 0);
	assert_string_equal(o.rep.linked, "encoding/json");
	assert_int_equal(o.rep.nr_absent, 8);
	opened__close(&o);

	s = (struct symfile){.go = none, .nr_go = 1};
	o = open_symfile(&s);
	opened__match(&o);
	assert_int_equal(o.rep.nr_found, 0);
	assert_string_equal(o.rep.linked, "");
	assert_int_equal(o.rep.nr_absent, 0);
	opened__close(&o);
}

static void test_go_name_in_an_elf_table_is_no_go_codec(void **state)
{
	static const struct symfile_elf fake[] = {
		{SYMFILE_SYM("encoding/json.Marshal", CODE(0), 0x20, STT_FUNC)}};
	struct symfile s = {.elf = fake, .nr_elf = 1};
	struct opened o = open_symfile(&s);

	opened__match(&o);
	assert_int_equal(o.found.nr, 0);
	assert_string_equal(o.rep.linked, "");
	opened__close(&o);
}

/* ---- C ---- */

static const struct symfile_elf cjson_imports[] = {
	{SYMFILE_SYM("cJSON_Parse", CODE(0x10), 0, STT_FUNC), .dyn = true, .import = true},
};

static void test_cjson_is_found_in_its_library(void **state)
{
	struct symfile s = cjson_library("libcjson.so.1");
	struct opened o = open_symfile(&s);
	const struct func *f;

	opened__match(&o);
	assert_int_equal(o.found.nr, 4);
	assert_int_equal(o.rep.nr_absent, 4);
	assert_string_equal(o.rep.linked, "cJSON");
	/* The size comes from the nested call, which counts the terminator. */
	f = func_named(&o, "cJSON_Parse");
	assert_value(&f->size_in, HB_VALUE_NONE, 0, -1);
	assert_value(&f->err, HB_VALUE_REG, AX, 0);
	assert_int_equal(f->err_kind, HB_ERR_ZERO);
	assert_int_equal(f->lang, HB_LANG_NATIVE);
	f = func_named(&o, "cJSON_ParseWithLengthOpts");
	assert_value(&f->size_in, HB_VALUE_REG, SI, 0);
	f = func_named(&o, "cJSON_PrintUnformatted");
	assert_value(&f->size_out, HB_VALUE_STRLEN, AX, 0);
	assert_int_equal(f->err_kind, HB_ERR_ZERO);
	f = func_named(&o, "cJSON_PrintPreallocated");
	assert_int_equal(f->err_kind, HB_ERR_ZERO32);
	assert_value(&f->size_out, HB_VALUE_NONE, 0, 0);
	opened__close(&o);
}

static void assert_not_matched(struct symfile s, const char *linked)
{
	struct opened o = open_symfile(&s);

	opened__match(&o);
	assert_int_equal(o.found.nr, 0);
	assert_string_equal(o.rep.linked, linked);
	assert_int_equal(o.rep.nr_absent, 0);
	opened__close(&o);
}

static void test_names_of_cjson_in_another_library_are_not_cjson(void **state)
{
	assert_not_matched(cjson_library("libother.so.1"), "");
	assert_not_matched(cjson_library("libcjson_utils.so.1"), "");
	assert_not_matched(cjson_library(NULL), "");
}

static void test_program_that_only_imports_cjson_is_linked_with_it_and_has_none(void **state)
{
	assert_not_matched((struct symfile){.elf = cjson_imports,
					    .nr_elf = 1,
					    .needed = "libcjson.so.1",
					    .interp = true},
			   "cJSON");
}

static void test_program_that_contains_cjson_is_matched(void **state)
{
	static const struct symfile_elf own[] = {
		{SYMFILE_SYM("cJSON_Parse", CODE(0), 0x20, STT_FUNC)}};
	struct symfile kinds[] = {
		{.elf = own, .nr_elf = 1},		   /* static */
		{.elf = own, .nr_elf = 1, .type = ET_DYN}, /* static PIE */
		{.elf = own, .nr_elf = 1, .type = ET_DYN, .dynamic = true, .interp = true},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct opened o = open_symfile(&kinds[i]);

		opened__match(&o);
		assert_int_equal(o.found.nr, 1);
		assert_null(func_named(&o, "cJSON_Parse")->library_version);
		assert_string_equal(o.rep.linked, "cJSON");
		opened__close(&o);
	}
}

static void test_ifunc_is_not_matched(void **state)
{
	static const struct symfile_elf ifunc[] = {
		{SYMFILE_SYM("cJSON_Parse", CODE(0), 0x20, STT_GNU_IFUNC), .dyn = true}};
	struct symfile s = {.type = ET_DYN, .elf = ifunc, .nr_elf = 1, .soname = "libcjson.so.1"};
	struct opened o = open_symfile(&s);

	opened__match(&o);
	assert_int_equal(o.found.nr, 0);
	assert_int_equal(o.rep.nr_absent, 8);
	opened__close(&o);
}

/* Reads a file that may be damaged: the names in it are used, so they must be whole. */
static void match_damaged(const struct elf_blob *file)
{
	struct opened o = {0};
	int go_err;

	assert_int_equal(registry__open(&o.r), 0);
	assert_int_equal(image__open_mem(file->bytes, file->len, &o.im), 0);
	if (!symtab__open(o.im, &o.t, &go_err))
		opened__match(&o);
	opened__close(&o);
}

static void test_no_byte_of_the_dynamic_section_leads_outside(void **state)
{
	struct symfile s = cjson_library("libcjson.so.1");
	struct elf_blob file;

	s.needed = "libc.so.6";
	symfile__build(&s, &file);
	for (u64 i = 0; i < s.dyn.len; i++) {
		u8 *at = file.bytes + s.dyn.off + i, old = *at;

		for (u32 flip = 1; flip < 256; flip = flip * 2 + 1) {
			*at = (u8)(old ^ flip);
			match_damaged(&file);
		}
		*at = old;
	}
	elf_blob__free(&file);
}

/* Writes the file under a name in a folder of its own and opens it through a link. */
static void test_version_of_a_c_library_is_in_its_real_name(void **state)
{
	char dir[] = "/tmp/hbprof-test-XXXXXX", real[64], soname[64];
	struct symfile s = cjson_library("libcjson.so.1");
	struct elf_blob file;
	struct image *im;
	struct opened o;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(real, sizeof(real), "%s/libcjson.so.1.7.15", dir);
	snprintf(soname, sizeof(soname), "%s/libcjson.so.1", dir);
	symfile__build(&s, &file);
	fd = open(real, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.bytes, file.len), file.len);
	close(fd);
	assert_int_equal(symlink("libcjson.so.1.7.15", soname), 0);
	assert_int_equal(image__open(soname, &im), 0);
	unlink(soname);
	unlink(real); /* a deleted library goes on running */
	rmdir(dir);
	elf_blob__free(&file);
	opened__init(&o, im);
	opened__match(&o);
	assert_string_equal(func_named(&o, "cJSON_Parse")->library_version, "1.7.15");
	opened__close(&o);
}

/* ---- functions named by the user ---- */

static void assert_probe(const char *spec, int want_err, u32 want_nr)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);
	u32 nr = 77;
	int err = opened__probe(&o, spec, &nr);

	if (err != want_err || nr != want_nr)
		fail_msg("%s: %d and %u functions, not %d and %u", spec, err, nr, want_err,
			 want_nr);
	assert_int_equal(o.found.nr, want_nr);
	opened__close(&o);
}

static struct func probe_one(struct opened *o, const char *spec)
{
	u32 nr;

	assert_int_equal(opened__probe(o, spec, &nr), 0);
	assert_int_equal(nr, 1);
	return o->found.v[o->found.nr - 1];
}

static void test_operation_is_the_word_after_the_last_equals_sign(void **state)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);
	struct func f = probe_one(&o, "main.main=encode");

	assert_string_equal(f.codec, "probe");
	assert_string_equal(f.op, "encode");
	assert_string_equal(f.name, "main.main");
	assert_int_equal(f.size_in.kind, HB_VALUE_NONE);
	assert_int_equal(f.err_kind, HB_ERR_NONE);
	f = probe_one(&o, "main.main=decode");
	assert_string_equal(f.op, "decode");
	f = probe_one(&o, "main.main");
	assert_string_equal(f.op, "call");
	opened__close(&o);
}

static void test_name_may_contain_equals_signs(void **state)
{
	assert_probe("main.F[go.shape.struct { A int \"json:\\\"a=b\\\"\" }]", 0, 1);
	assert_probe("main.F[go.shape.struct { A int \"json:\\\"a=b\\\"\" }]=encode", 0, 1);
	assert_probe("main.F[go.shape.struct { A int \"json:\\\"a=c\\\"\" }]", 0, 0);
	assert_probe("main.G=x", 0, 1);
	assert_probe("main.G=x=decode", 0, 1);
	assert_probe("foo::operator=", 0, 1);
	assert_probe("foo::operator==", 0, 1);
	assert_probe("foo::operator===encode", 0, 1);
}

static void test_unknown_operation_is_refused(void **state)
{
	assert_probe("main.main=enc", -EINVAL, 0);
	assert_probe("main.main=Encode", 0, 0); /* no word of ours: a name that is not here */
	assert_probe("", -EINVAL, 0);
	assert_probe("=encode", -EINVAL, 0);
	assert_probe("=", 0, 0);
}

static void test_name_that_is_nowhere_gives_nothing(void **state)
{
	assert_probe("main.nothing", 0, 0);
	assert_probe("main.main.func1", 0, 0);
	assert_probe("MAIN.MAIN", 0, 0);
}

static void test_wrapper_is_left_out_only_beside_its_body(void **state)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);

	assert_int_equal(probe_one(&o, "main.main").size, 0x40);
	assert_int_equal(probe_one(&o, "main.(*T).M").size, 0x20);
	opened__close(&o);
}

static void test_language_comes_from_the_table_that_has_the_function(void **state)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);
	u32 nr;

	assert_int_equal(probe_one(&o, "main.main").lang, HB_LANG_GO);
	assert_int_equal(probe_one(&o, "foo::operator=").lang, HB_LANG_NATIVE);
	assert_int_equal(opened__probe(&o, "shared", &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(o.found.v[2].lang, HB_LANG_GO);
	assert_int_equal(o.found.v[3].lang, HB_LANG_NATIVE);
	opened__close(&o);
}

static void test_readable_names_are_found_with_and_without_parameters(void **state)
{
	struct symfile s = go_program();
	struct opened o = open_symfile(&s);
	u32 nr;

	assert_int_equal(opened__probe(&o, "foo::bar", &nr), 0);
	assert_int_equal(nr, 2);
	assert_string_equal(probe_one(&o, "foo::bar(double)").name, "foo::bar(double)");
	assert_string_equal(probe_one(&o, "_ZN3foo3barEi").name, "foo::bar(int)");
	assert_string_equal(probe_one(&o, "demo::enc=encode").name, "demo::enc");
	opened__close(&o);
}

static void test_two_symbols_of_one_function_are_one_function(void **state)
{
	assert_probe("foo::foo", 0, 1); /* both constructors of a class without virtual bases */
}

static void test_ifuncs_and_imports_are_refused(void **state)
{
	assert_probe("chosen", -ENOTSUP, 0);
	assert_probe("versioned", -ENOTSUP, 0); /* the plain one is an old version */
	assert_probe("imported", -ENOTSUP, 0);
	assert_probe("imported=encode", -ENOTSUP, 0);
}

/* ---- real programs ---- */

static bool open_program(const char *name, struct opened *o)
{
	const char *dir = getenv("HB_GO_BIN_DIR");
	struct image *im;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/nonexistent", name);
	if (access(path, R_OK)) {
		print_message("no %s in HB_GO_BIN_DIR (see tests/unit/gobins.sh)\n", name);
		return false;
	}
	assert_int_equal(image__open(path, &im), 0);
	opened__init(o, im);
	return true;
}

static void test_codecs_of_real_go_programs_are_found_with_their_version(void **state)
{
	static const char *const names[] = {"plain",	 "stripped",   "pie_ext_stripped",
					    "staticpie", "nosections", "arm64"};
	u32 seen = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct opened o;

		if (!open_program(names[i], &o))
			continue;
		seen++;
		opened__match(&o);
		assert_int_equal(o.found.nr, 8);
		assert_int_equal(o.rep.nr_absent, 0);
		assert_non_null(o.build);
		assert_string_equal(func_named(&o, "encoding/json.Valid")->library_version,
				    o.build->go_version);
		opened__close(&o);
	}
	if (!seen)
		skip();
}

static void test_jsonv2_program_has_the_functions_of_version_2(void **state)
{
	struct opened o;

	if (!open_program("jsonv2", &o))
		skip();
	opened__match(&o);
	assert_string_equal(o.rep.linked, "encoding/json, encoding/json/v2");
	assert_string_equal(func_named(&o, "encoding/json/v2.Unmarshal")->codec,
			    "encoding/json/v2");
	func_named(&o, "encoding/json/v2.Marshal");
	func_named(&o, "encoding/json.(*Encoder).Encode");
	opened__close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_codecs_are_found_with_their_registers),
		cmocka_unit_test(test_arm64_has_registers_of_its_own),
		cmocka_unit_test(test_unknown_machine_is_refused),
		cmocka_unit_test(test_report_counts_what_a_linked_package_lacks),
		cmocka_unit_test(test_linked_package_without_its_functions_is_told_from_none),
		cmocka_unit_test(test_go_name_in_an_elf_table_is_no_go_codec),
		cmocka_unit_test(test_cjson_is_found_in_its_library),
		cmocka_unit_test(test_names_of_cjson_in_another_library_are_not_cjson),
		cmocka_unit_test(
			test_program_that_only_imports_cjson_is_linked_with_it_and_has_none),
		cmocka_unit_test(test_program_that_contains_cjson_is_matched),
		cmocka_unit_test(test_ifunc_is_not_matched),
		cmocka_unit_test(test_no_byte_of_the_dynamic_section_leads_outside),
		cmocka_unit_test(test_version_of_a_c_library_is_in_its_real_name),
		cmocka_unit_test(test_operation_is_the_word_after_the_last_equals_sign),
		cmocka_unit_test(test_name_may_contain_equals_signs),
		cmocka_unit_test(test_unknown_operation_is_refused),
		cmocka_unit_test(test_name_that_is_nowhere_gives_nothing),
		cmocka_unit_test(test_wrapper_is_left_out_only_beside_its_body),
		cmocka_unit_test(test_language_comes_from_the_table_that_has_the_function),
		cmocka_unit_test(test_readable_names_are_found_with_and_without_parameters),
		cmocka_unit_test(test_two_symbols_of_one_function_are_one_function),
		cmocka_unit_test(test_ifuncs_and_imports_are_refused),
		cmocka_unit_test(test_codecs_of_real_go_programs_are_found_with_their_version),
		cmocka_unit_test(test_jsonv2_program_has_the_functions_of_version_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
