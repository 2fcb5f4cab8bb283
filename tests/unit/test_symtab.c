// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_symtab.c - the merged table of functions: over files written by hand, and over one Go program
 * built in many ways (tests/unit/gobins.sh), where the linker's symbols are the truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/elfsym.h"
#include "sym/symtab.h"
#include "symfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct table {
	struct image *im;
	struct symtab *t;
	int err, go_err;
};

static struct table open_file(const struct elf_blob *file)
{
	struct table r = {0};

	assert_int_equal(image__open_mem(file->bytes, file->len, &r.im), 0);
	r.err = symtab__open(r.im, &r.t, &r.go_err);
	return r;
}

static struct table open_symfile(struct symfile *s)
{
	struct elf_blob file;
	struct table r;

	symfile__build(s, &file);
	r = open_file(&file);
	elf_blob__free(&file);
	return r;
}

static void close_table(struct table *r)
{
	symtab__close(r->t);
	image__close(r->im);
}

static const struct sym *only(const struct symtab *t, const char *name)
{
	const struct sym *s = NULL;

	if (symtab__find(t, name, &s, 1) != 1)
		fail_msg("not exactly one symbol is called %s", name);
	return s;
}

#define CODE(off) (SYMFILE_CODE + (off))

static const struct symfile_elf c_funcs[] = {
	{SYMFILE_SYM("zeta", CODE(0x100), 0x40, STT_FUNC)},
	{SYMFILE_SYM("alpha", CODE(0x40), 0x40, STT_FUNC)},
	{SYMFILE_SYM("alias", CODE(0x40), 0x40, STT_FUNC)},
	{SYMFILE_SYM("alpha", CODE(0x40), 0x40, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("versioned@@V_1", CODE(0x200), 0x20, STT_FUNC)},
	{SYMFILE_SYM("old@V_0", CODE(0x220), 0x20, STT_FUNC)},
	{SYMFILE_SYM("chosen", CODE(0x300), 0x10, STT_GNU_IFUNC)},
	{SYMFILE_SYM("imported", 0, 0, STT_FUNC), .dyn = true, .import = true},
	{SYMFILE_SYM("imported_with_stub", CODE(0x10), 0, STT_FUNC), .dyn = true, .import = true},
	{SYMFILE_SYM("variable", SYMFILE_DATA, 8, STT_OBJECT)},
	{SYMFILE_SYM("exported_data", SYMFILE_DATA + 8, 8, STT_OBJECT), .dyn = true},
	{SYMFILE_SYM("label", CODE(0x44), 0, STT_NOTYPE)},
	{SYMFILE_SYM("in_data", SYMFILE_DATA, 8, STT_FUNC)},
	{SYMFILE_SYM("assembly", CODE(0x400), 0, STT_FUNC)},
	{SYMFILE_SYM("endless", CODE(0x500), ~0ULL, STT_FUNC)},
};

static struct symfile c_program(void)
{
	return (struct symfile){
		.elf = c_funcs,
		.nr_elf = sizeof(c_funcs) / sizeof(c_funcs[0]),
		.dynamic = true,
	};
}

/* ---- ELF tables ---- */

static void test_functions_of_the_elf_tables_come_sorted_and_once(void **state)
{
	static const char *const want[] = {"alias", "alpha",  "zeta",	  "versioned",
					   "old",   "chosen", "assembly", "endless"};
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_int_equal(r.err, 0);
	assert_int_equal(r.go_err, 0);
	assert_false(r.t->go);
	assert_int_equal(r.t->nr, 8);
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(r.t->v[i].name, want[i]);
	close_table(&r);
}

static void test_imports_and_data_are_no_functions(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_int_equal(symtab__find(r.t, "imported", NULL, 0), 0);
	assert_int_equal(symtab__find(r.t, "imported_with_stub", NULL, 0), 0);
	assert_int_equal(symtab__find(r.t, "variable", NULL, 0), 0);
	assert_int_equal(symtab__find(r.t, "in_data", NULL, 0), 0);
	assert_int_equal(symtab__find(r.t, "label", NULL, 0), 0);
	close_table(&r);
}

static void test_version_suffixes_are_cut_off(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_int_equal(only(r.t, "versioned")->vaddr, CODE(0x200));
	assert_int_equal(only(r.t, "old")->vaddr, CODE(0x220));
	assert_int_equal(symtab__find(r.t, "versioned@@V_1", NULL, 0), 0);
	close_table(&r);
}

static void test_ifunc_is_marked(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_true(only(r.t, "chosen")->ifunc);
	assert_false(only(r.t, "alpha")->ifunc);
	close_table(&r);
}

static void test_size_that_leaves_the_code_is_cut(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_int_equal(only(r.t, "endless")->size, SYMFILE_CODE_BYTES - 0x500);
	close_table(&r);
}

static void test_dynamic_symbols_are_read_without_section_headers(void **state)
{
	for (int gnu = 0; gnu < 2; gnu++) {
		struct symfile s = c_program();
		struct table r;

		s.no_sections = true;
		s.gnu_hash = gnu;
		r = open_symfile(&s);
		assert_int_equal(r.err, 0);
		assert_int_equal(r.t->nr, 1);
		assert_int_equal(only(r.t, "alpha")->source, SYM_DYN);
		assert_true(symtab__imports(r.im, "imported"));
		close_table(&r);
	}
}

static void test_imports_are_known_by_name(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_true(symtab__imports(r.im, "imported"));
	assert_true(symtab__imports(r.im, "imported_with_stub"));
	assert_false(symtab__imports(r.im, "alpha"));
	assert_false(symtab__imports(r.im, "nowhere"));
	assert_false(symtab__imports(r.im, ""));
	close_table(&r);
}

static void test_an_exported_variable_is_found_by_name(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);
	u64 at = 1;

	assert_false(symtab__data(r.im, "variable", &at)); /* not exported */
	assert_false(symtab__data(r.im, "alpha", &at));	   /* a function */
	assert_false(symtab__data(r.im, "imported", &at));
	assert_int_equal(at, 1);
	assert_true(symtab__data(r.im, "exported_data", &at));
	assert_int_equal(at, SYMFILE_DATA + 8);
	close_table(&r);
}

static void test_file_without_tables_has_no_functions(void **state)
{
	struct symfile s = {.no_sections = true};
	struct table r = open_symfile(&s);

	assert_int_equal(r.err, 0);
	assert_int_equal(r.t->nr, 0);
	assert_null(symtab__at(r.t, CODE(0)));
	assert_int_equal(symtab__find(r.t, "main", NULL, 0), 0);
	close_table(&r);
}

/* ---- addresses ---- */

static void assert_at(const struct symtab *t, u64 vaddr, const char *want)
{
	const struct sym *s = symtab__at(t, vaddr);

	if (!s && want)
		fail_msg("nothing at %llx, not %s", vaddr, want);
	else if (!want)
		assert_null(s);
	else
		assert_string_equal(s->name, want);
}

static void test_function_at_an_address_is_the_one_that_contains_it(void **state)
{
	struct symfile s = c_program();
	struct table r = open_symfile(&s);

	assert_at(r.t, CODE(0), NULL);
	assert_at(r.t, CODE(0x40), "alias");
	assert_at(r.t, CODE(0x7f), "alias");
	assert_at(r.t, CODE(0x80), NULL);
	assert_at(r.t, CODE(0x13f), "zeta");
	assert_at(r.t, CODE(0x140), NULL);
	assert_at(r.t, CODE(0x4ff), "assembly"); /* no size: up to the next */
	assert_at(r.t, CODE(SYMFILE_CODE_BYTES), NULL);
	assert_at(r.t, ~0ULL, NULL);
	close_table(&r);
}

static void test_function_around_another_one_is_found(void **state)
{
	static const struct symfile_elf nested[] = {
		{SYMFILE_SYM("outer", CODE(0), 0x100, STT_FUNC)},
		{SYMFILE_SYM("outer.cold", CODE(0x40), 0x10, STT_FUNC)},
	};
	struct symfile s = {.elf = nested, .nr_elf = 2};
	struct table r = open_symfile(&s);

	assert_at(r.t, CODE(0x3f), "outer");
	assert_at(r.t, CODE(0x40), "outer.cold");
	assert_at(r.t, CODE(0x50), "outer");
	close_table(&r);
}

/* ---- Go and ELF together ---- */

static const struct symfile_go go_funcs[] = {
	{"runtime.text", 0x20, 0},
	{"main.main", 0x100, 0},
	{"main.main", 0x20, 23},
};

static const struct symfile_elf cgo_funcs[] = {
	{SYMFILE_SYM("main.main", CODE(0x20), 0xf0, STT_FUNC)},
	{SYMFILE_SYM("main.main.abi0", CODE(0x120), 0x1a, STT_FUNC)},
	{SYMFILE_SYM("runtime.inside", CODE(0x30), 0, STT_FUNC)},
	{SYMFILE_SYM("c_function", CODE(0x200), 0x20, STT_FUNC)},
};

static struct symfile go_program(void)
{
	return (struct symfile){
		.go = go_funcs,
		.nr_go = 3,
		.elf = cgo_funcs,
		.nr_elf = 4,
	};
}

static void test_go_table_alone_counts_inside_go_code(void **state)
{
	struct symfile s = go_program();
	struct table r = open_symfile(&s);

	assert_int_equal(r.err, 0);
	assert_true(r.t->go);
	assert_int_equal(r.t->go_text, CODE(0));
	assert_int_equal(r.t->go_etext, CODE(0x140));
	assert_int_equal(r.t->nr, 4);
	assert_int_equal(only(r.t, "c_function")->source, SYM_ELF);
	assert_int_equal(symtab__find(r.t, "main.main.abi0", NULL, 0), 0);
	close_table(&r);
}

static void test_all_bodies_of_a_name_are_found(void **state)
{
	struct symfile s = go_program();
	const struct sym *v[4];
	struct table r = open_symfile(&s);

	assert_int_equal(symtab__find(r.t, "main.main", v, 4), 2);
	assert_int_equal(v[0]->vaddr, CODE(0x20));
	assert_int_equal(v[0]->size, 0x100); /* Go's, with the padding; not the linker's */
	assert_int_equal(v[1]->vaddr, CODE(0x120));
	assert_int_equal(symtab__find(r.t, "main.main", v, 1), 2);
	close_table(&r);
}

static void test_damaged_go_table_leaves_the_elf_table(void **state)
{
	struct symfile s = go_program();
	struct elf_blob file;
	struct table r;

	symfile__build(&s, &file);
	memset(file.bytes + s.funcs.off, 0xff, s.funcs.len);
	r = open_file(&file);
	assert_int_equal(r.err, 0);
	assert_int_equal(r.go_err, -EBADMSG);
	assert_false(r.t->go);
	assert_int_equal(r.t->nr, 4);
	assert_int_equal(only(r.t, "main.main")->source, SYM_ELF);
	close_table(&r);
	elf_blob__free(&file);
}

/* ---- damage ---- */

/* Reads a file that may be damaged and uses everything it gives. */
static void use_file(const struct elf_blob *file)
{
	struct table r = {0};

	if (image__open_mem(file->bytes, file->len, &r.im))
		return;
	r.err = symtab__open(r.im, &r.t, &r.go_err);
	for (size_t i = 0; !r.err && i < r.t->nr; i++) {
		const struct sym *s = &r.t->v[i];

		assert_true(symtab__find(r.t, s->name, NULL, 0) >= 1);
		assert_non_null(image__at(r.im, s->vaddr, s->size));
		if (s->size)
			assert_non_null(symtab__at(r.t, s->vaddr + s->size - 1));
	}
	symtab__imports(r.im, "imported");
	close_table(&r);
}

static void flip_bytes(const struct elf_blob *file, struct elf_blob where)
{
	for (u64 i = 0; i < where.len; i++) {
		u8 *at = file->bytes + where.off + i, old = *at;

		for (u32 flip = 1; flip < 256; flip = flip * 2 + 1) {
			*at = (u8)(old ^ flip);
			use_file(file);
		}
		*at = old;
	}
}

static void test_no_byte_of_the_tables_leads_outside(void **state)
{
	for (int gnu = 0; gnu < 2; gnu++) {
		struct symfile s = c_program();
		struct elf_blob file;

		s.gnu_hash = gnu;
		s.no_sections = gnu;
		s.soname = "libx.so.1";
		symfile__build(&s, &file);
		flip_bytes(&file, s.symtab);
		flip_bytes(&file, s.strtab);
		flip_bytes(&file, s.dynsym);
		flip_bytes(&file, s.dynstr);
		flip_bytes(&file, s.dyn);
		flip_bytes(&file, s.hash);
		elf_blob__free(&file);
	}
}

static void test_no_byte_of_the_headers_leads_outside(void **state)
{
	struct symfile s = c_program();
	struct elf_blob file, headers = {0};

	symfile__build(&s, &file);
	headers.len = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
	flip_bytes(&file, headers);
	headers.off = elf_header(&file)->e_shoff;
	headers.len = elf_header(&file)->e_shnum * sizeof(Elf64_Shdr);
	flip_bytes(&file, headers);
	elf_blob__free(&file);
}

static void assert_damaged(void (*damage)(const struct elf_blob *file, const struct symfile *s))
{
	struct symfile s = c_program();
	struct elf_blob file;
	struct table r;

	symfile__build(&s, &file);
	damage(&file, &s);
	r = open_file(&file);
	assert_int_equal(r.err, -EBADMSG);
	assert_null(r.t);
	close_table(&r);
	elf_blob__free(&file);
}

static Elf64_Shdr *section_of_type(const struct elf_blob *file, u32 type)
{
	for (u32 i = 0; i < elf_header(file)->e_shnum; i++) {
		if (elf_section(file, i)->sh_type == type)
			return elf_section(file, i);
	}
	fail();
	return NULL;
}

static void name_outside(const struct elf_blob *file, const struct symfile *s)
{
	Elf64_Sym *sym = (Elf64_Sym *)(file->bytes + s->symtab.off);

	sym[1].st_name = (u32)s->strtab.len;
}

static void table_outside(const struct elf_blob *file, const struct symfile *s)
{
	section_of_type(file, SHT_SYMTAB)->sh_size = file->len;
}

static void names_outside(const struct elf_blob *file, const struct symfile *s)
{
	section_of_type(file, SHT_SYMTAB)->sh_link = elf_header(file)->e_shnum;
}

static void odd_entries(const struct elf_blob *file, const struct symfile *s)
{
	section_of_type(file, SHT_SYMTAB)->sh_entsize = 16;
}

static void names_without_end(const struct elf_blob *file, const struct symfile *s)
{
	memset(file->bytes + s->strtab.off, 'x', s->strtab.len);
}

static void test_damaged_tables_are_refused(void **state)
{
	assert_damaged(name_outside);
	assert_damaged(table_outside);
	assert_damaged(names_outside);
	assert_damaged(odd_entries);
	assert_damaged(names_without_end);
}

/* ---- real programs ---- */

/* Opens a program of HB_GO_BIN_DIR; false: it is not there. */
static bool open_program(const char *name, struct table *r)
{
	const char *dir = getenv("HB_GO_BIN_DIR");
	char path[4096];

	*r = (struct table){0};
	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/nonexistent", name);
	if (access(path, R_OK)) {
		print_message("no %s in HB_GO_BIN_DIR (see tests/unit/gobins.sh)\n", name);
		return false;
	}
	assert_int_equal(image__open(path, &r->im), 0);
	r->err = symtab__open(r->im, &r->t, &r->go_err);
	assert_int_equal(r->err, 0);
	assert_int_equal(r->go_err, 0);
	assert_true(r->t->go);
	return true;
}

/* The linker's name of a Go function: the table's, or with the ABI at its end. */
static bool is_name_of(const char *linkers, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(linkers, name, len) && (!linkers[len] || !strcmp(linkers + len, ".abi0") ||
						!strcmp(linkers + len, ".abiinternal"));
}

/* Every function of the linker's table inside Go's code is where Go's table says, by its name. */
static u32 compare_with_linker(const struct table *r)
{
	struct elfsym_count max;
	struct elfsym elf;
	struct sym *v;
	size_t nr = 0;
	u32 same = 0;
	char *pool;

	assert_int_equal(elfsym__open(r->im, &elf), 0);
	assert_int_equal(elfsym__count(r->im, &elf, &max), 0);
	v = calloc(max.nr + 1, sizeof(*v));
	pool = calloc(max.pool + 1, 1);
	assert_int_equal(elfsym__read(r->im, &elf, 0, 0, &max, v, &nr, pool), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct sym *s = symtab__at(r->t, v[i].vaddr);

		if (v[i].vaddr < r->t->go_text || v[i].vaddr >= r->t->go_etext)
			continue;
		if (!s || s->source != SYM_GO || s->vaddr != v[i].vaddr)
			fail_msg("%s at %llx is in no function", v[i].name, v[i].vaddr);
		else
			same += is_name_of(v[i].name, s->name);
	}
	free(v);
	free(pool);
	return same;
}

static void test_go_table_agrees_with_the_linkers_symbols(void **state)
{
	static const char *const names[] = {"plain", "pie",	"pie_ext", "staticpie",
					    "cgo",   "cshared", "jsonv2",  "arm64"};
	u32 seen = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct table r;

		if (!open_program(names[i], &r))
			continue;
		seen++;
		if (compare_with_linker(&r) < 2000)
			fail_msg("%s: fewer than 2000 functions agree", names[i]);
		close_table(&r);
	}
	if (!seen)
		skip();
}

static void test_a_variable_of_a_go_program_is_found_by_name_and_size(void **state)
{
	struct table r;

	if (!open_program("plain", &r))
		skip();
	assert_true(elfsym_data(r.im, "runtime.gomaxprocs", 4));
	assert_false(elfsym_data(r.im, "runtime.gomaxprocs", 8));
	assert_false(elfsym_data(r.im, "runtime.main", 4)); /* a function */
	close_table(&r);
	if (!open_program("stripped", &r))
		skip();
	assert_false(elfsym_data(r.im, "runtime.gomaxprocs", 4));
	close_table(&r);
}

/* The program has the Go functions of the other one, at the same addresses. */
static bool compare_programs(const char *name, const char *with)
{
	struct table a, b;
	size_t j = 0;

	if (!open_program(name, &a))
		return false;
	if (!open_program(with, &b)) {
		close_table(&a);
		return false;
	}
	for (size_t i = 0; i < a.t->nr; i++) {
		if (a.t->v[i].source != SYM_GO)
			continue;
		while (j < b.t->nr && b.t->v[j].source != SYM_GO)
			j++;
		assert_true(j < b.t->nr);
		assert_string_equal(a.t->v[i].name, b.t->v[j].name);
		assert_int_equal(a.t->v[i].vaddr, b.t->v[j].vaddr);
		assert_int_equal(a.t->v[i].size, b.t->v[j].size);
		j++;
	}
	assert_true(j > 2000);
	close_table(&a);
	close_table(&b);
	return true;
}

static void test_stripping_and_lost_section_headers_change_nothing(void **state)
{
	bool any = compare_programs("cgo_strip", "cgo");

	any |= compare_programs("nosections", "plain");
	any |= compare_programs("pie_ext_nosections", "pie_ext");
	if (!any)
		skip();
}

/* Linked without symbols, a program may lie elsewhere; its code is the same. */
static bool compare_code(const char *name, const char *with)
{
	static const char *const funcs[] = {"encoding/json.Marshal", "encoding/json.Unmarshal",
					    "runtime.gopanic"};
	struct table a, b;

	if (!open_program(name, &a))
		return false;
	if (!open_program(with, &b)) {
		close_table(&a);
		return false;
	}
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		const struct sym *x = only(a.t, funcs[i]), *y = only(b.t, funcs[i]);

		assert_int_equal(x->size, y->size);
		/* The stack check and the frame: no address of anything in it. */
		assert_memory_equal(image__at(a.im, x->vaddr, 12), image__at(b.im, y->vaddr, 12),
				    12);
	}
	close_table(&a);
	close_table(&b);
	return true;
}

static void test_programs_linked_without_symbols_have_the_same_functions(void **state)
{
	bool any = compare_code("stripped", "plain");

	any |= compare_code("pie_stripped", "pie");
	any |= compare_code("pie_ext_stripped", "pie_ext");
	if (!any)
		skip();
}

static void test_c_functions_of_a_cgo_program_are_beside_the_go_ones(void **state)
{
	struct table r;

	if (!open_program("cgo", &r))
		skip();
	assert_int_equal(only(r.t, "gobin_add")->source, SYM_ELF);
	assert_int_equal(only(r.t, "main.main")->source, SYM_GO);
	close_table(&r);
}

static void test_method_wrappers_are_told_from_methods(void **state)
{
	struct table r;

	if (!open_program("plain", &r))
		skip();
	assert_true(only(r.t, "main.(*named).MarshalJSON")->wrapper);
	assert_false(only(r.t, "main.named.MarshalJSON")->wrapper);
	assert_false(only(r.t, "encoding/json.Marshal")->wrapper);
	close_table(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_the_elf_tables_come_sorted_and_once),
		cmocka_unit_test(test_imports_and_data_are_no_functions),
		cmocka_unit_test(test_version_suffixes_are_cut_off),
		cmocka_unit_test(test_ifunc_is_marked),
		cmocka_unit_test(test_size_that_leaves_the_code_is_cut),
		cmocka_unit_test(test_dynamic_symbols_are_read_without_section_headers),
		cmocka_unit_test(test_imports_are_known_by_name),
		cmocka_unit_test(test_an_exported_variable_is_found_by_name),
		cmocka_unit_test(test_file_without_tables_has_no_functions),
		cmocka_unit_test(test_function_at_an_address_is_the_one_that_contains_it),
		cmocka_unit_test(test_function_around_another_one_is_found),
		cmocka_unit_test(test_go_table_alone_counts_inside_go_code),
		cmocka_unit_test(test_all_bodies_of_a_name_are_found),
		cmocka_unit_test(test_damaged_go_table_leaves_the_elf_table),
		cmocka_unit_test(test_no_byte_of_the_tables_leads_outside),
		cmocka_unit_test(test_no_byte_of_the_headers_leads_outside),
		cmocka_unit_test(test_damaged_tables_are_refused),
		cmocka_unit_test(test_go_table_agrees_with_the_linkers_symbols),
		cmocka_unit_test(test_a_variable_of_a_go_program_is_found_by_name_and_size),
		cmocka_unit_test(test_stripping_and_lost_section_headers_change_nothing),
		cmocka_unit_test(test_programs_linked_without_symbols_have_the_same_functions),
		cmocka_unit_test(test_c_functions_of_a_cgo_program_are_beside_the_go_ones),
		cmocka_unit_test(test_method_wrappers_are_told_from_methods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
