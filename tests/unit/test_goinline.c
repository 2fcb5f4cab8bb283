// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where Go functions are inlined: tables made by hand, whole and damaged, and real programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/goinline.h"
#include "symfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT, MAIN, PART, LEAF };

static const struct symfile_go funcs[] = {
	[TEXT] = {"runtime.text", 0x20, 0},
	[MAIN] = {"main.main", 0x140, 0},
	[PART] = {"main.part", 0x60, 0},
	[LEAF] = {"main.leaf", 0x20, 0},
};

/* PART has a body of its own, and LEAF is inlined there too. */
static const struct symfile_inlined inlined[4] = {
	[MAIN] = {3, {PART, LEAF, PART}},
	[PART] = {1, {LEAF}},
};

static int count(const struct elf_blob *file, u32 *part, u32 *leaf)
{
	struct go_inlined v[] = {{"main.part", 9}, {"main.none", 9}, {"main.leaf", 9}};
	struct image *im;
	int err = image__open_mem(file->bytes, file->len, &im);

	assert_int_equal(err, 0);
	err = goinline__count(im, v, 3);
	assert_int_equal(v[1].places, 0);
	*part = v[0].places;
	*leaf = v[2].places;
	image__close(im);
	return err;
}

static struct elf_blob build(struct symfile *s)
{
	struct elf_blob file;

	s->go = funcs;
	s->nr_go = 4;
	s->inlined = inlined;
	symfile__build(s, &file);
	return file;
}

static void test_copies_are_counted_in_every_form_of_program(void **state)
{
	struct symfile forms[] = {{0},
				  {.no_sections = true},
				  {.moduledata = MODULEDATA_RELA, .type = ET_DYN},
				  {.machine = EM_AARCH64}};
	u32 part, leaf;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct elf_blob file = build(&forms[i]);

		assert_int_equal(count(&file, &part, &leaf), 0);
		assert_int_equal(part, 2);
		assert_int_equal(leaf, 2);
		elf_blob__free(&file);
	}
}

static void test_without_the_tables_nothing_is_known(void **state)
{
	struct symfile old = {.magic = SYMFILE_MAGIC_1_18}, c = {0};
	struct symfile lost = {.moduledata = MODULEDATA_NONE, .text_start = SYMFILE_CODE};
	struct elf_blob file = build(&old);
	u32 part, leaf;

	assert_int_equal(count(&file, &part, &leaf), -ENOENT);
	elf_blob__free(&file);
	file = build(&lost);
	assert_int_equal(count(&file, &part, &leaf), -ENOENT);
	elf_blob__free(&file);
	symfile__build(&c, &file);
	assert_int_equal(count(&file, &part, &leaf), -ENOENT);
	assert_int_equal(part + leaf, 0);
	elf_blob__free(&file);
}

static void test_every_changed_byte_of_the_tables_is_an_answer_and_not_a_crash(void **state)
{
	static const u8 values[] = {0x00, 0x7f, 0x80, 0xff};
	struct symfile s = {0};
	struct elf_blob file = build(&s);
	u32 part, leaf, bad = 0;

	for (u64 at = s.tab.off; at < s.tab.off + s.tab.len; at++) {
		u8 was = file.bytes[at];

		for (size_t i = 0; i < sizeof(values); i++) {
			int err;

			file.bytes[at] = values[i];
			err = count(&file, &part, &leaf);
			assert_true(!err || err == -EBADMSG || err == -ENOENT);
			if (err) {
				bad++;
				assert_int_equal(part + leaf, 0);
			}
		}
		file.bytes[at] = was;
	}
	assert_true(bad > 50);
	elf_blob__free(&file);
}

/* The same program built in different ways has the same copies. */
static void test_real_programs_tell_the_same_whether_stripped_or_not(void **state)
{
	static const char *const builds[] = {"plain",	"stripped",	    "nosections", "pie",
					     "pie_ext", "pie_ext_stripped", "cgo_strip"};
	const char *dir = getenv("HB_GO_BIN_DIR");
	u32 want = 0;

	if (!dir)
		skip();
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		struct go_inlined v[] = {{"runtime.add", 0}, {"main.main", 0}};
		struct image *im;
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", dir, builds[i]);
		if (image__open(path, &im))
			skip();
		assert_int_equal(goinline__count(im, v, 2), 0);
		assert_true(v[0].places > 10);
		assert_int_equal(v[1].places, 0);
		if (!want)
			want = v[0].places;
		assert_int_equal(v[0].places, want);
		image__close(im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_are_counted_in_every_form_of_program),
		cmocka_unit_test(test_without_the_tables_nothing_is_known),
		cmocka_unit_test(
			test_every_changed_byte_of_the_tables_is_an_answer_and_not_a_crash),
		cmocka_unit_test(test_real_programs_tell_the_same_whether_stripped_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
