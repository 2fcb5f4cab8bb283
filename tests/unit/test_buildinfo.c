// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_buildinfo.c - Go's build info: written by hand, damaged, and of real programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/buildinfo.h"
#include "symfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "0123456789abcdef"

static const char text[] = MARK "path\texample.com/app/cmd\n"
				"mod\texample.com/app\tv1.2.3\th1:sum=\n"
				"dep\tgithub.com/a/b\tv0.1.0\th1:sum=\n"
				"dep\tgithub.com/a/b/v2\tv2.4.0\th1:sum=\n"
				"dep\tgithub.com/c/d/v2\tv2.0.0\th1:sum=\n"
				"dep\tgithub.com/c/d\tv1.0.0\th1:sum=\n"
				"dep\tgopkg.in/yaml.v3\tv3.0.1\th1:sum=\n"
				"dep\texample.org/forked\tv1.0.0\n"
				"=>\texample.net/fork\tv9.9.9\th1:sum=\n"
				"dep\texample.org/local\tv1.0.0\n"
				"=>\t../local\t\t\n"
				"build\t-compiler=gc\n"
				"build\t-ldflags=\"-s -w -X \\\"main.V=1\\\"\"\n"
				"build\t\"odd key\"=x=y\n"
				"later\tunknown\n" MARK;

/* The block of a version and a module text; flags 2: strings inline. */
static void make_block(struct strbuf *b, const char *version, const char *mod, size_t mod_len)
{
	size_t version_len = strlen(version);

	strbuf__init(b, 1 << 20);
	strbuf__add(b, "\xff Go buildinf:\x08\x02", 16);
	for (int i = 0; i < 16; i++)
		strbuf__addc(b, 0);
	strbuf__addc(b, (char)version_len);
	strbuf__adds(b, version);
	for (; mod_len >> 7; mod_len >>= 7)
		strbuf__addc(b, (char)(mod_len | 0x80));
	strbuf__addc(b, (char)mod_len);
	strbuf__adds(b, mod);
	assert_int_equal(b->err, 0);
}

/* Opens the build info of a file with that block in its data. */
static int open_bytes(const void *block, size_t len, struct buildinfo **out)
{
	struct symfile s = {.data = block, .data_len = len, .no_sections = true};
	struct elf_blob file;
	struct image *im;
	int err;

	symfile__build(&s, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, &im), 0);
	elf_blob__free(&file);
	err = buildinfo__open(im, out);
	image__close(im);
	return err;
}

static int open_info(const char *version, const char *mod, struct buildinfo **out)
{
	struct strbuf b;
	int err;

	make_block(&b, version, mod, strlen(mod));
	err = open_bytes(b.s, b.len, out);
	strbuf__fini(&b);
	return err;
}

static void test_versions_modules_and_settings_are_read(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", text, &b), 0);
	assert_string_equal(b->go_version, "go1.26.8");
	assert_int_equal(b->go_minor, 26);
	assert_string_equal(b->main_path, "example.com/app/cmd");
	assert_int_equal(b->nr_modules, 8);
	assert_string_equal(b->module[0].path, "example.com/app");
	assert_string_equal(b->module[0].version, "v1.2.3");
	assert_string_equal(b->module[1].path, "github.com/a/b");
	assert_int_equal(b->nr_settings, 3);
	assert_string_equal(b->setting[0].key, "-compiler");
	assert_string_equal(b->setting[0].value, "gc");
	buildinfo__close(b);
}

static void test_quoted_settings_are_unquoted(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", text, &b), 0);
	assert_string_equal(b->setting[1].key, "-ldflags");
	assert_string_equal(b->setting[1].value, "-s -w -X \"main.V=1\"");
	assert_string_equal(b->setting[2].key, "odd key");
	assert_string_equal(b->setting[2].value, "x=y");
	buildinfo__close(b);
}

static void assert_version(const struct buildinfo *b, const char *package, const char *want)
{
	const char *got = buildinfo__version(b, package);

	if (!want)
		assert_null(got);
	else if (!got)
		fail_msg("no version of %s", package);
	else
		assert_string_equal(got, want);
}

static void test_version_is_that_of_the_innermost_module_of_the_package(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", text, &b), 0);
	assert_version(b, "github.com/a/b", "v0.1.0");
	assert_version(b, "github.com/a/b/sub", "v0.1.0");
	assert_version(b, "github.com/a/b/v2/sub", "v2.4.0");
	assert_version(b, "github.com/c/d/v2/sub", "v2.0.0"); /* in either order */
	assert_version(b, "github.com/a/bc", NULL);
	assert_version(b, "github.com/a", NULL);
	assert_version(b, "example.com/app/x", "v1.2.3");
	assert_version(b, "main", "v1.2.3");
	buildinfo__close(b);
}

static void test_version_of_the_standard_library_is_the_toolchains(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", text, &b), 0);
	assert_version(b, "encoding/json", "go1.26.8");
	assert_version(b, "fmt", "go1.26.8");
	buildinfo__close(b);
}

static void test_escaped_dots_of_a_package_name_are_undone(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", text, &b), 0);
	assert_version(b, "gopkg.in/yaml%2ev3", "v3.0.1");
	assert_version(b, "gopkg.in/yaml%2", NULL);
	buildinfo__close(b);
}

static void test_replacement_gives_the_version_and_keeps_the_path(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", text, &b), 0);
	assert_version(b, "example.org/forked/x", "v9.9.9");
	assert_version(b, "example.net/fork", NULL);
	assert_version(b, "example.org/local", NULL); /* a folder has no version */
	buildinfo__close(b);
}

static void test_minor_version_is_that_of_releases_only(void **state)
{
	static const struct {
		const char *version;
		u32 minor;
	} cases[] = {
		{"go1.26.8", 26},
		{"go1.21", 21},
		{"go1.26rc1", 26},
		{"go1.18beta2", 18},
		{"go1.26.8-X:jsonv2", 26},
		{"go1.22.5 (Red Hat)", 22},
		{"devel go1.27-0123", 0},
		{"go1.27-devel_0123", 0},
		{"go1.x", 0},
		{"go1.", 0},
		{"go2.1", 0},
		{"1.26", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buildinfo *b;

		assert_int_equal(open_info(cases[i].version, "", &b), 0);
		assert_int_equal(b->go_minor, cases[i].minor);
		buildinfo__close(b);
	}
}

static void test_text_without_its_marks_is_no_text(void **state)
{
	struct buildinfo *b;

	assert_int_equal(open_info("go1.26.8", "path\tx\n", &b), 0);
	assert_null(b->main_path);
	assert_int_equal(b->nr_modules, 0);
	assert_version(b, "main", "go1.26.8");
	buildinfo__close(b);
}

static void test_file_without_build_info_says_so(void **state)
{
	struct buildinfo *b = NULL;

	assert_int_equal(open_bytes("nothing to see here, move along", 32, &b), -ENOENT);
	assert_null(b);
}

static void test_pointers_of_go_1_17_are_not_followed(void **state)
{
	struct buildinfo *b = NULL;
	struct strbuf block;

	make_block(&block, "go1.17", text, strlen(text));
	block.s[15] = 0;
	assert_int_equal(open_bytes(block.s, block.len, &b), -ENOENT);
	strbuf__fini(&block);
}

static void test_replacement_of_nothing_is_damage(void **state)
{
	struct buildinfo *b = NULL;

	assert_int_equal(open_info("go1.26.8", MARK "=>\tx\ty\tz\n" MARK, &b), -EBADMSG);
}

static void test_lengths_that_lead_outside_are_damage(void **state)
{
	static const struct {
		size_t at;
		const char *bytes;
		size_t len;
	} cases[] = {
		{32, "\x7f", 1},					      /* cut below */
		{32, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12}, /* no end */
		{32, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9},	      /* 2^63 - 1 */
		{32, "\xff\xff\xff\xff\x0f", 5},			      /* 4 GB */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buildinfo *b = NULL;
		struct strbuf block;

		make_block(&block, "go1.26.8", MARK, strlen(MARK));
		memcpy(block.s + cases[i].at, cases[i].bytes, cases[i].len);
		assert_int_equal(open_bytes(block.s, block.len, &b), -EBADMSG);
		assert_null(b);
		strbuf__fini(&block);
	}
}

static void test_cut_block_is_never_read_past_its_end(void **state)
{
	struct strbuf block;

	make_block(&block, "go1.26.8", text, strlen(text));
	for (size_t len = 0; len < block.len; len++) {
		struct buildinfo *b = NULL;

		assert_int_equal(open_bytes(block.s, len, &b), len < 32 ? -ENOENT : -EBADMSG);
	}
	strbuf__fini(&block);
}

static void test_no_byte_of_the_text_leads_outside(void **state)
{
	static const char hostile[] = {0, '\t', '\n', '"', '\\', '=', (char)0xff};
	struct strbuf block;

	make_block(&block, "go1.26.8", text, strlen(text));
	for (size_t i = 32; i < block.len; i++) {
		char old = block.s[i];

		for (size_t h = 0; h < sizeof(hostile); h++) {
			struct buildinfo *b = NULL;

			block.s[i] = hostile[h];
			if (!open_bytes(block.s, block.len, &b)) {
				buildinfo__version(b, "github.com/a/b");
				buildinfo__close(b);
			}
		}
		block.s[i] = old;
	}
	strbuf__fini(&block);
}

/* ---- real programs ---- */

static void test_build_info_of_real_programs_is_read(void **state)
{
	static const char *const names[] = {"plain",	 "stripped",   "pie_ext",
					    "cgo_strip", "nosections", "pie_ext_nosections"};
	const char *dir = getenv("HB_GO_BIN_DIR");
	u32 nr = 0;

	for (size_t i = 0; dir && i < sizeof(names) / sizeof(names[0]); i++) {
		char path[4096];
		struct buildinfo *b;
		struct image *im;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (access(path, R_OK))
			continue;
		assert_int_equal(image__open(path, &im), 0);
		assert_int_equal(buildinfo__open(im, &b), 0);
		assert_true(b->go_minor >= 22);
		assert_string_equal(b->main_path, "example.com/gobin");
		assert_version(b, "encoding/json", b->go_version);
		buildinfo__close(b);
		image__close(im);
		nr++;
	}
	if (!nr) {
		print_message("no Go programs in HB_GO_BIN_DIR (see tests/unit/gobins.sh)\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions_modules_and_settings_are_read),
		cmocka_unit_test(test_quoted_settings_are_unquoted),
		cmocka_unit_test(test_version_is_that_of_the_innermost_module_of_the_package),
		cmocka_unit_test(test_version_of_the_standard_library_is_the_toolchains),
		cmocka_unit_test(test_escaped_dots_of_a_package_name_are_undone),
		cmocka_unit_test(test_replacement_gives_the_version_and_keeps_the_path),
		cmocka_unit_test(test_minor_version_is_that_of_releases_only),
		cmocka_unit_test(test_text_without_its_marks_is_no_text),
		cmocka_unit_test(test_file_without_build_info_says_so),
		cmocka_unit_test(test_pointers_of_go_1_17_are_not_followed),
		cmocka_unit_test(test_replacement_of_nothing_is_damage),
		cmocka_unit_test(test_lengths_that_lead_outside_are_damage),
		cmocka_unit_test(test_cut_block_is_never_read_past_its_end),
		cmocka_unit_test(test_no_byte_of_the_text_leads_outside),
		cmocka_unit_test(test_build_info_of_real_programs_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
