// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_frames.c - from addresses to functions and names: over a process that the tests make up, with
 * files that they write; over this process; and over texts as /proc/kallsyms has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/frames.h"
#include "sym/kallsyms.h"
#include "symfile.h"
#include "util/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXE_AT	0x401000ULL /* as its code is linked */
#define LIB_AT	0x7f0000001000ULL
#define ANON_AT 0x7f1000000000ULL
#define VDSO_AT 0x7fff00000000ULL

enum { EXE_INO = 11, LIBC_INO };

static const struct symfile_elf exe_syms[] = {
	{SYMFILE_SYM("main", 0x401000, 0x100, 2)},
	{SYMFILE_SYM("work", 0x401100, 0x80, 2)},
	{SYMFILE_SYM("_ZN2ns5twiceEi", 0x401200, 0x40, 2)},
	{SYMFILE_SYM("_start", 0x401300, 0x20, 2)},
	{SYMFILE_SYM("callback", 0x401400, 0x20, 2)},
};

static const struct symfile_elf libc_syms[] = {
	{SYMFILE_SYM("qsort", 0x401000, 0x100, 2)},
	{SYMFILE_SYM("clone", 0x401200, 0x40, 2)},
};

struct world {
	struct image *exe, *libc;
	struct symtab *exe_syms, *libc_syms;
	struct proc p;
	struct frames f;
};

static void open_syms(const struct symfile_elf *v, u32 nr, struct image **im, struct symtab **t)
{
	struct symfile s = {.elf = v, .nr_elf = nr};
	struct elf_blob file;
	int go_err;

	symfile__build(&s, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, im), 0);
	elf_blob__free(&file);
	assert_int_equal(symtab__open(*im, t, &go_err), 0);
	assert_int_equal((*t)->nr, nr);
}

/* Code of an image at an address. */
static void put_map(struct world *w, u64 begin, u64 ino, const char *path, const struct image *im)
{
	struct proc_map *m;
	u64 off = 0;

	if (im)
		assert_int_equal(image__off(im, SYMFILE_CODE, &off), 0);
	w->p.map = realloc(w->p.map, (w->p.nr_maps + 1) * sizeof(*m));
	assert_non_null(w->p.map);
	m = &w->p.map[w->p.nr_maps++];
	*m = (struct proc_map){.begin = begin,
			       .end = begin + SYMFILE_CODE_BYTES,
			       .off = off,
			       .dev = ino ? makedev(8, 1) : 0,
			       .ino = ino,
			       .exec = true,
			       .path = (char *)path};
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	open_syms(exe_syms, 5, &w->exe, &w->exe_syms);
	open_syms(libc_syms, 2, &w->libc, &w->libc_syms);
	w->p.pid = -1; /* nothing of it can be opened */
	frames__init(&w->f);
	assert_int_equal(
		frames__know(&w->f, "/bin/exe", makedev(8, 1), EXE_INO, w->exe, w->exe_syms), 0);
	assert_int_equal(frames__know(&w->f, "/lib/libc.so.6", makedev(8, 1), LIBC_INO, w->libc,
				      w->libc_syms),
			 0);
	put_map(w, EXE_AT, EXE_INO, "/bin/exe", w->exe);
	put_map(w, LIB_AT, LIBC_INO, "/lib/libc.so.6", w->libc);
	put_map(w, ANON_AT, 0, "", NULL);
	put_map(w, VDSO_AT, 0, "[vdso]", NULL);
	assert_int_equal(frames__update(&w->f, &w->p), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	frames__fini(&w->f);
	symtab__close(w->exe_syms);
	symtab__close(w->libc_syms);
	image__close(w->exe);
	image__close(w->libc);
	free(w->p.map);
	free(w);
	return 0;
}

static void assert_name(struct world *w, u64 addr, const char *want)
{
	u64 key = frames__key(&w->f, addr);
	char *name;

	assert_true(key != 0);
	name = frames__name(&w->f, key);
	assert_non_null(name);
	assert_string_equal(name, want);
	free(name);
}

static void test_addresses_of_one_function_are_one_frame(void **state)
{
	struct world *w = *state;

	assert_true(frames__key(&w->f, 0x401100) == frames__key(&w->f, 0x40117f));
	assert_true(frames__key(&w->f, 0x401100) != frames__key(&w->f, 0x4010ff));
	assert_true(frames__key(&w->f, 0x401000) != frames__key(&w->f, LIB_AT));
}

static void test_frames_have_the_names_of_their_functions(void **state)
{
	struct world *w = *state;

	assert_name(w, 0x401000, "main");
	assert_name(w, 0x401110, "work");
	assert_name(w, 0x401210, "ns::twice");
	assert_name(w, LIB_AT + 0x10, "qsort");
}

static void test_code_without_a_name_is_called_by_what_it_is_in(void **state)
{
	struct world *w = *state;
	char *name = frames__name(&w->f, FRAMES_UNKNOWN);

	assert_string_equal(name, "[unknown]");
	free(name);
	assert_name(w, 0x401800, "[exe]");
	assert_name(w, LIB_AT + 0x180, "[libc.so.6]");
	assert_name(w, ANON_AT, "[anon]");
	assert_name(w, VDSO_AT + 5, "[vdso]");
}

static void test_an_address_in_no_mapping_is_no_frame(void **state)
{
	struct world *w = *state;

	assert_true(frames__key(&w->f, 0) == 0);
	assert_true(frames__key(&w->f, EXE_AT - 1) == 0);
	assert_true(frames__key(&w->f, EXE_AT + SYMFILE_CODE_BYTES) == 0);
	assert_true(frames__key(&w->f, ~0ULL >> 1) == 0);
}

static void test_a_kernel_address_stays_itself(void **state)
{
	struct world *w = *state;
	u64 key = frames__key(&w->f, 0xffffffff81000010);

	assert_true(key == 0xffffffff81000010 && frame_is_kernel(key));
	assert_false(frame_is_kernel(frames__key(&w->f, EXE_AT)));
}

static void test_a_new_mapping_takes_the_place_of_an_old_one_and_others_stay(void **state)
{
	struct world *w = *state;
	u64 before = frames__key(&w->f, LIB_AT);

	w->p.nr_maps = 0;
	put_map(w, LIB_AT - 0x800, EXE_INO, "/bin/exe", w->exe); /* over half of it */
	assert_int_equal(frames__update(&w->f, &w->p), 0);
	assert_name(w, LIB_AT - 0x800, "main");
	assert_true(frames__key(&w->f, LIB_AT + 0xfff) == 0);
	assert_name(w, EXE_AT, "main"); /* not there any more, and not replaced */
	assert_name(w, VDSO_AT, "[vdso]");
	w->p.nr_maps = 0;
	put_map(w, 0x10000, LIBC_INO, "/lib/libc.so.6", w->libc);
	assert_int_equal(frames__update(&w->f, &w->p), 0);
	assert_true(frames__key(&w->f, 0x10000) == before); /* the same function elsewhere */
}

static void test_a_file_that_cannot_be_opened_has_its_name_only(void **state)
{
	struct world *w = *state;

	put_map(w, 0x10000, 99, "/lib/gone.so (deleted)", w->exe);
	assert_int_equal(frames__update(&w->f, &w->p), 0);
	assert_name(w, 0x10000, "[gone.so (deleted)]");
}

static void test_more_files_than_may_be_known_are_anonymous(void **state)
{
	struct world *w = *state;

	for (u32 i = 0; i < FRAMES_MAX_FILES; i++)
		put_map(w, 0x100000000ULL + i * SYMFILE_CODE_BYTES, 1000 + i, "/lib/x.so", w->exe);
	assert_int_equal(frames__update(&w->f, &w->p), 0);
	assert_int_equal(w->f.nr_files, FRAMES_MAX_FILES);
	assert_name(w, 0x100000000ULL, "[x.so]");
	assert_name(w, 0x100000000ULL + (FRAMES_MAX_FILES - 1) * SYMFILE_CODE_BYTES, "[anon]");
}

static void test_a_stack_begins_at_start_clone_main_and_what_the_c_library_calls(void **state)
{
	struct world *w = *state;
	u64 main_ = frames__key(&w->f, 0x401000), work = frames__key(&w->f, 0x401100),
	    start = frames__key(&w->f, 0x401300), callback = frames__key(&w->f, 0x401400),
	    qsort_ = frames__key(&w->f, LIB_AT), clone_ = frames__key(&w->f, LIB_AT + 0x200),
	    unnamed = frames__key(&w->f, LIB_AT + 0x180), anon = frames__key(&w->f, ANON_AT);

	assert_true(frames__is_root(&w->f, start, main_));
	assert_true(frames__is_root(&w->f, start, 0));
	assert_true(frames__is_root(&w->f, clone_, unnamed));
	assert_true(frames__is_root(&w->f, unnamed, main_));	/* main's caller */
	assert_true(frames__is_root(&w->f, unnamed, callback)); /* a thread's first function */
	assert_false(frames__is_root(&w->f, unnamed, qsort_));
	assert_false(frames__is_root(&w->f, unnamed, 0));
	assert_false(frames__is_root(&w->f, qsort_, callback));
	assert_false(frames__is_root(&w->f, main_, work));
	assert_false(frames__is_root(&w->f, work, 0));
	assert_false(frames__is_root(&w->f, anon, work));
}

static void write_call(struct image *im, u64 vaddr, s64 to, u8 opcode)
{
	s32 rel = (s32)(to - (s64)(vaddr + 5));
	u8 *code = (u8 *)image__at(im, vaddr, 5); /* a copy of the test's own */

	assert_non_null(code);
	code[0] = opcode;
	memcpy(code + 1, &rel, sizeof(rel));
}

static void test_the_caller_of_a_function_without_a_frame_is_known_by_its_call(void **state)
{
	struct world *w = *state;
	u64 ra = 0x401025;

	write_call(w->exe, 0x401020, 0x401100, 0xe8);
	assert_true(frames__called_from(&w->f, 0x401100, ra));
	assert_true(frames__called_from(&w->f, 0x40117f, ra));
	assert_false(frames__called_from(&w->f, 0x401180, ra)); /* in no function */
	assert_false(frames__called_from(&w->f, 0x401210, ra)); /* in another one */
	assert_false(frames__called_from(&w->f, 0x401100, ra + 1));
	write_call(w->exe, 0x401020, 0x401101, 0xe8); /* into its middle */
	assert_false(frames__called_from(&w->f, 0x401100, ra));
	write_call(w->exe, 0x401020, 0x401100, 0xe9); /* a jump */
	assert_false(frames__called_from(&w->f, 0x401100, ra));
}

static void write_word(struct image *im, u64 vaddr, u32 word)
{
	u8 *code = (u8 *)image__at(im, vaddr, sizeof(word));

	assert_non_null(code);
	memcpy(code, &word, sizeof(word));
}

static void test_on_arm64_the_caller_is_known_by_its_call_too(void **state)
{
	struct world *w = *state;
	u64 ra = 0x401024;

	w->exe->machine = EM_AARCH64;
	write_word(w->exe, 0x401020, 0x94000038); /* bl 0x401100 */
	assert_true(frames__called_from(&w->f, 0x401100, ra));
	assert_true(frames__called_from(&w->f, 0x40117c, ra));
	assert_false(frames__called_from(&w->f, 0x401210, ra));
	write_word(w->exe, 0x401020, 0x14000038); /* b 0x401100 */
	assert_false(frames__called_from(&w->f, 0x401100, ra));
	write_word(w->exe, 0x401204, 0x97ffffbf); /* bl 0x401100 */
	assert_true(frames__called_from(&w->f, 0x401100, 0x401208));
	w->exe->machine = EM_X86_64;
}

static void test_no_word_on_the_stack_is_taken_for_a_caller_unchecked(void **state)
{
	static const u64 words[] = {0,
				    4,
				    EXE_AT,
				    EXE_AT + 4,
				    EXE_AT + SYMFILE_CODE_BYTES + 5,
				    ANON_AT + 64,
				    ~0ULL,
				    1ULL << 63,
				    VDSO_AT + 64};
	struct world *w = *state;

	for (u32 i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_false(frames__called_from(&w->f, 0x401100, words[i]));
		assert_false(frames__called_from(&w->f, words[i], 0x401105));
	}
}

/* ---- this process ---- */

static __attribute__((noinline, noclone)) u64 here(void)
{
	return (u64)(uintptr_t)__builtin_return_address(0);
}

static void test_this_test_finds_its_own_name_when_the_process_could_be_gone(void **state)
{
	struct proc *p = NULL;
	struct frames f;
	u64 addr = here() - 1, key;
	char *name;

	frames__init(&f);
	assert_int_equal(proc__open(getpid(), &p), 0);
	assert_int_equal(frames__update(&f, p), 0);
	proc__close(p); /* from here on by what was opened */
	key = frames__key(&f, addr);
	name = frames__name(&f, key);
	assert_string_equal(name, __func__);
	free(name);
	frames__fini(&f);
}

/* ---- kallsyms ---- */

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 t do_one\n"
			       "ffffffff81000100 t do_one_alias\n"
			       "ffffffff81000180 d not_code\n"
			       "ffffffff81000200 W weak_one\n"
			       "ffffffff81000200\n"
			       "junk\n"
			       "ffffffffc0000000 t in_module\t[nf_tables]\n"
			       "ffffffff81000210 T late\n";

static int find(const char *text, struct kaddr *v, size_t nr)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(f);
	err = kallsyms__find(f, v, nr);
	fclose(f);
	return err;
}

static void test_kernel_addresses_get_the_nearest_function_below(void **state)
{
	struct kaddr v[] = {{.addr = 0xffffffffc0000123}, {.addr = 0xffffffff81000215},
			    {.addr = 0xffffffff8100020f}, {.addr = 0xffffffff810001ff},
			    {.addr = 0xffffffff81000100}, {.addr = 0xffffffff81000105},
			    {.addr = 0xffffffff80000000}};
	static const char *const want[] = {
		NULL, "do_one", "do_one", "do_one", "weak_one", "late", "in_module [nf_tables]"};

	assert_int_equal(find(kallsyms, v, 7), 0);
	for (u32 i = 0; i < 7; i++) {
		assert_true(!i || v[i - 1].addr < v[i].addr);
		if (want[i])
			assert_string_equal(v[i].name, want[i]);
		else
			assert_null(v[i].name);
		free(v[i].name);
	}
}

static void test_hidden_kernel_addresses_are_an_error_of_their_own(void **state)
{
	struct kaddr v[] = {{.addr = 0xffffffff81000100}};

	assert_int_equal(find("0000000000000000 T _stext\n0000000000000000 t x\n", v, 1), -EACCES);
	assert_null(v[0].name);
	assert_int_equal(find(kallsyms, v, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_WORLD(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		IN_WORLD(test_addresses_of_one_function_are_one_frame),
		IN_WORLD(test_frames_have_the_names_of_their_functions),
		IN_WORLD(test_code_without_a_name_is_called_by_what_it_is_in),
		IN_WORLD(test_an_address_in_no_mapping_is_no_frame),
		IN_WORLD(test_a_kernel_address_stays_itself),
		IN_WORLD(test_a_new_mapping_takes_the_place_of_an_old_one_and_others_stay),
		IN_WORLD(test_a_file_that_cannot_be_opened_has_its_name_only),
		IN_WORLD(test_more_files_than_may_be_known_are_anonymous),
		IN_WORLD(test_a_stack_begins_at_start_clone_main_and_what_the_c_library_calls),
		IN_WORLD(test_the_caller_of_a_function_without_a_frame_is_known_by_its_call),
		IN_WORLD(test_on_arm64_the_caller_is_known_by_its_call_too),
		IN_WORLD(test_no_word_on_the_stack_is_taken_for_a_caller_unchecked),
		cmocka_unit_test(test_this_test_finds_its_own_name_when_the_process_could_be_gone),
		cmocka_unit_test(test_kernel_addresses_get_the_nearest_function_below),
		cmocka_unit_test(test_hidden_kernel_addresses_are_an_error_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
