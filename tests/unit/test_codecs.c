// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_codecs.c - the built-in entries; patterns, versions and files that a user adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "opened.h"
#include "util/log.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the built-in entries ---- */

static void test_every_entry_is_complete_on_both_machines(void **state)
{
	const u16 machines[] = {EM_X86_64, EM_AARCH64};
	struct registry *r;
	u32 nr_off = 0;

	assert_int_equal(registry__open(&r), 0);
	assert_true(registry__size(r) > 100);
	for (size_t m = 0; m < 2; m++) {
		for (size_t i = 0; i < registry__size(r); i++) {
			struct codec_entry e;
			int err = registry__entry(r, i, machines[m], &e);

			if (err == -ENOENT) { /* one that is off */
				nr_off++;
				continue;
			}
			assert_int_equal(err, 0);
			assert_non_null(e.codec);
			assert_non_null(e.op);
			assert_non_null(e.symbol);
			assert_non_null(e.library);
			assert_non_null(e.language);
			/* An error kind has a value to look at, and the other way round. */
			assert_int_equal(e.err.kind != HB_VALUE_NONE, e.err_kind != HB_ERR_NONE);
			assert_true(e.size_in.reg < HB_LOC_NR && e.size_out.reg < HB_LOC_NR);
			assert_int_equal(e.lang == HB_LANG_GO, !strcmp(e.language, "go"));
			if (e.traits & (REGISTRY_LAZY | REGISTRY_STREAMING))
				assert_non_null(e.note);
		}
	}
	assert_int_equal(nr_off, 2 * 2); /* the parts of gob's first calls */
	registry__close(r);
}

/* A session has a bit for each (codec, operation); no program has all of them, but it must not fail
 * for one that has all of a language. */
static void test_groups_of_a_language_fit_into_a_session(void **state)
{
	static const char *const languages[] = {"go", "c", "c++", "rust", "node"};
	struct codec_entry e, k;
	struct registry *r;

	assert_int_equal(registry__open(&r), 0);
	for (size_t l = 0; l < sizeof(languages) / sizeof(*languages); l++) {
		u32 groups = 0;

		for (size_t i = 0; i < registry__size(r); i++) {
			bool first = true;

			registry__entry(r, i, EM_X86_64, &e);
			for (size_t j = 0; j < i && first; j++) {
				registry__entry(r, j, EM_X86_64, &k);
				first = strcmp(e.codec, k.codec) || strcmp(e.op, k.op);
			}
			groups += first && !strcmp(e.language, languages[l]);
		}
		assert_true(groups > 0 && groups < HB_MAX_GROUPS);
	}
	registry__close(r);
}

/* Words that the convention of a machine puts where they are not followed have no value there. */
static void test_size_in_a_register_that_is_not_followed_is_none(void **state)
{
	struct codec_entry e = {0};
	struct registry *r;
	size_t i;

	assert_int_equal(registry__open(&r), 0);
	for (i = 0; i < registry__size(r); i++) {
		registry__entry(r, i, EM_X86_64, &e);
		if (strstr(e.symbol, "protojson.UnmarshalOptions.unmarshal"))
			break;
	}
	assert_int_equal(e.size_in.kind, HB_VALUE_NONE);
	assert_int_equal(registry__entry(r, i, EM_AARCH64, &e), 0);
	assert_value(&e.size_in, HB_VALUE_REG, 6, 0);
	registry__close(r);
}

/* ---- patterns, versions, states ---- */

static const char gen_codecs[] =
	"{\"format\": 1, \"libraries\": [{\"codec\": \"gen\", \"language\": \"go\","
	" \"library\": \"example.com/gen.v2\", \"functions\": ["
	"  {\"op\": \"encode\", \"symbol\": \"{path}.(*{word}).Enc\", \"limit\": 2},"
	"  {\"op\": \"decode\", \"symbol\": \"{path}.(*{word}).Dec\", \"with\": \"GenMarker\"},"
	"  {\"op\": \"decode\", \"symbol\": \".Run\"},"
	"  {\"op\": \"decode\", \"symbol\": \".Missing\"}]}]}";

#define GEN "example.com/gen%2ev2"

static const struct symfile_go gen_funcs[] = {
	{GEN ".Run", 0x20, 0},
	{"main.(*A).Enc", 0x20, 0},
	{"main.(*A).Enc", 0x20, 23},
	{"main.(*B).Enc", 0x20, 23},
	{"main.(*A).Dec", 0x20, 0},
	{"main.(*A).GenMarker", 0x20, 0},
	{"main.(*B).Dec", 0x20, 0},
	{"main.(*C).Encode", 0x20, 0},
	{"example.com/p.(*D).Enc", 0x20, 0},
};

#define NR_GEN (sizeof(gen_funcs) / sizeof(gen_funcs[0]))

static struct opened open_gen(const struct symfile_go *funcs, size_t nr, const char *text)
{
	struct symfile s = {.go = funcs, .nr_go = nr};
	struct opened o = open_symfile(&s);

	assert_int_equal(registry__add_text(o.r, "gen.json", text, strlen(text)), 0);
	o.rep.alt = calloc(registry__size(o.r), sizeof(*o.rep.alt));
	assert_non_null(o.rep.alt);
	opened__match(&o);
	return o;
}

static const struct registry_alt *alt_of(const struct opened *o, const char *symbol)
{
	struct codec_entry e;

	for (size_t i = 0; i < registry__size(o->r); i++) {
		if (!registry__entry(o->r, i, EM_X86_64, &e) && !strcmp(e.symbol, symbol))
			return &o->rep.alt[i];
	}
	fail_msg("no entry %s", symbol);
	return NULL;
}

static void close_gen(struct opened *o)
{
	free(o->rep.alt);
	opened__close(o);
}

static void test_pattern_finds_generated_functions_but_no_wrappers(void **state)
{
	struct opened o = open_gen(gen_funcs, NR_GEN, gen_codecs);

	assert_int_equal(o.found.nr, 4);
	assert_string_equal(func_named(&o, "main.(*A).Enc")->op, "encode");
	func_named(&o, "example.com/p.(*D).Enc");
	func_named(&o, "main.(*A).Dec"); /* B has no GenMarker */
	func_named(&o, GEN ".Run");	 /* ".Run" is in the package, spelled as the linker does */
	assert_int_equal(alt_of(&o, "{path}.(*{word}).Enc")->state, REGISTRY_HIT);
	assert_int_equal(alt_of(&o, "{path}.(*{word}).Enc")->nr, 2);
	assert_int_equal(alt_of(&o, GEN ".Missing")->state, REGISTRY_INLINED);
	assert_int_equal(alt_of(&o, "cJSON_Parse")->state, REGISTRY_ABSENT);
	assert_string_equal(o.rep.linked, "gen");
	close_gen(&o);
}

static void test_pattern_matches_only_where_its_library_is_linked_in(void **state)
{
	struct opened o = open_gen(gen_funcs + 1, NR_GEN - 1, gen_codecs);

	assert_int_equal(o.found.nr, 0);
	assert_int_equal(alt_of(&o, "{path}.(*{word}).Enc")->state, REGISTRY_ABSENT);
	assert_string_equal(o.rep.linked, "");
	close_gen(&o);
}

static char warned[512];

static void keep_warning(enum log_level l, const char *msg)
{
	snprintf(warned, sizeof(warned), "%s", msg);
}

static void test_pattern_above_its_limit_measures_nothing_and_says_how_many(void **state)
{
	struct symfile_go many[5] = {{GEN ".Run", 0x20, 0},
				     {"main.(*A).Enc", 0x20, 0},
				     {"main.(*B).Enc", 0x20, 0},
				     {"main.(*C).Enc", 0x20, 0}};
	struct opened o;

	warned[0] = '\0';
	log_set_sink(keep_warning);
	o = open_gen(many, 4, gen_codecs);
	log_set_sink(NULL);
	assert_int_equal(o.found.nr, 1); /* Run */
	assert_int_equal(alt_of(&o, "{path}.(*{word}).Enc")->state, REGISTRY_TOO_MANY);
	assert_int_equal(alt_of(&o, "{path}.(*{word}).Enc")->nr, 3);
	assert_non_null(strstr(warned, "3 functions match"));
	assert_non_null(strstr(warned, "--codecs"));
	close_gen(&o);
}

static void test_later_file_replaces_adds_and_turns_off(void **state)
{
	static const char more[] =
		"{\"format\": 1, \"libraries\": [{\"codec\": \"cJSON\", \"language\": \"c\","
		" \"library\": \"libcjson\", \"functions\": ["
		"  {\"op\": \"decode\", \"symbol\": \"cJSON_Parse\", \"note\": \"mine\"},"
		"  {\"op\": \"encode\", \"symbol\": \"cJSON_PrintUnformatted\", \"off\": true},"
		"  {\"op\": \"encode\", \"symbol\": \"cJSON_ParseWithLengthOpts\"}]}]}";
	struct symfile s = cjson_library("libcjson.so.1");
	struct opened o = open_symfile(&s);
	size_t size = registry__size(o.r);

	assert_int_equal(registry__add_text(o.r, "more.json", more, strlen(more)), 0);
	assert_int_equal(registry__size(o.r), size);
	opened__match(&o);
	assert_int_equal(o.found.nr, 3);
	assert_string_equal(func_named(&o, "cJSON_Parse")->note, "mine");
	assert_int_equal(func_named(&o, "cJSON_Parse")->err_kind, HB_ERR_NONE);
	assert_string_equal(func_named(&o, "cJSON_ParseWithLengthOpts")->op, "encode");
	opened__close(&o);
}

static const struct symfile_elf cpp_dyn[] = {
	{SYMFILE_SYM("_ZN2ns6ParserIiE5parseEPKcm", CODE(0), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("_ZN2ns6Parser4saveB5cxx11Ev", CODE(0x20), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("_ZN4demo3enc17h0123456789abcdefE", CODE(0x40), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("_ZN2ns5parseEi", CODE(0x60), 0x20, STT_FUNC), .dyn = true},
	/* Rust's v0 mangling: <demo::T>::put, demo::get::<u8>, <demo::T as demo::Tr>::run */
	{SYMFILE_SYM("_RNvMCsauMP1AnkCw5_4demoNtB2_1T3put", CODE(0x80), 0x20, STT_FUNC),
	 .dyn = true},
	{SYMFILE_SYM("_RINvCsauMP1AnkCw5_4demo3gethEB2_", CODE(0xa0), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("_RNvXs_CsauMP1AnkCw5_4demoNtB4_1TNtB4_2Tr3run", CODE(0xc0), 0x20, STT_FUNC),
	 .dyn = true},
};

static const char cpp_codecs[] =
	"{\"format\": 1, \"libraries\": [{\"codec\": \"ns\", \"language\": \"c++\","
	" \"library\": \"ns\", \"where\": \"anywhere\", \"functions\": ["
	"  {\"op\": \"decode\", \"symbol\": \"ns::Parser<{any}>::parse({any})\"},"
	"  {\"op\": \"encode\", \"symbol\": \"ns::Parser::save()\"},"
	"  {\"op\": \"call\", \"symbol\": \"demo::enc\"},"
	"  {\"op\": \"put\", \"symbol\": \"demo::T::put\"},"
	"  {\"op\": \"get\", \"symbol\": \"demo::get\"},"
	"  {\"op\": \"run\", \"symbol\": \"demo::Tr::run\"}]}]}";

static void test_readable_names_match_without_abi_tags_and_hashes(void **state)
{
	struct symfile s = {.type = ET_DYN,
			    .elf = cpp_dyn,
			    .nr_elf = sizeof(cpp_dyn) / sizeof(*cpp_dyn),
			    .soname = "libany.so.1"};
	struct opened o = open_symfile(&s);

	assert_int_equal(registry__add_text(o.r, "cpp.json", cpp_codecs, strlen(cpp_codecs)), 0);
	opened__match(&o);
	assert_int_equal(o.found.nr, 6);
	for (size_t i = 0; i < o.found.nr; i++) {
		const struct func *f = &o.found.v[i];

		assert_true(strcmp(f->op, "put") || f->vaddr == CODE(0x80));
		assert_true(strcmp(f->op, "get") || f->vaddr == CODE(0xa0));
		assert_true(strcmp(f->op, "run") || f->vaddr == CODE(0xc0));
	}
	assert_int_equal(
		func_named(&o, "ns::Parser<int>::parse(char const*, unsigned long)")->vaddr,
		CODE(0));
	assert_int_equal(func_named(&o, "demo::enc")->vaddr, CODE(0x40));
	assert_string_equal(o.rep.linked, "ns");
	opened__close(&o);
}

static const char ver_codecs[] =
	"{\"format\": 1, \"libraries\": [{\"codec\": \"v\", \"language\": \"c\","
	" \"library\": \"libcjson\", \"functions\": ["
	"  {\"op\": \"decode\", \"symbol\": \"cJSON_Parse\", \"versions\": \"<1.7\"},"
	"  {\"op\": \"encode\", \"symbol\": \"cJSON_PrintUnformatted\","
	"   \"versions\": \">=1.7 <2\"}]}]}";

/* The file is not there any more, so its version is that of the name it was opened by. */
static void match_versions(const char *path, u8 parse, u8 print)
{
	struct symfile s = cjson_library("libcjson.so.1");
	struct opened o = open_symfile(&s);
	struct codec_entry e;

	free(o.im->path);
	o.im->path = strdup(path);
	registry__close(o.r);
	assert_int_equal(registry__open(&o.r), 0);
	assert_int_equal(registry__add_text(o.r, "v.json", ver_codecs, strlen(ver_codecs)), 0);
	o.rep.alt = calloc(registry__size(o.r), sizeof(*o.rep.alt));
	opened__match(&o);
	for (size_t i = 0; i < registry__size(o.r); i++) {
		registry__entry(o.r, i, EM_X86_64, &e);
		if (!strcmp(e.codec, "v"))
			assert_int_equal(o.rep.alt[i].state,
					 strstr(e.symbol, "Parse") ? parse : print);
	}
	close_gen(&o);
}

static void test_entry_is_for_its_versions_where_the_version_is_known(void **state)
{
	match_versions("/x/libcjson.so.1.6.0", REGISTRY_HIT, REGISTRY_OTHER_VERSION);
	match_versions("/x/libcjson.so.1.7.15", REGISTRY_OTHER_VERSION, REGISTRY_HIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_entry_is_complete_on_both_machines),
		cmocka_unit_test(test_groups_of_a_language_fit_into_a_session),
		cmocka_unit_test(test_size_in_a_register_that_is_not_followed_is_none),
		cmocka_unit_test(test_pattern_finds_generated_functions_but_no_wrappers),
		cmocka_unit_test(test_pattern_matches_only_where_its_library_is_linked_in),
		cmocka_unit_test(test_pattern_above_its_limit_measures_nothing_and_says_how_many),
		cmocka_unit_test(test_later_file_replaces_adds_and_turns_off),
		cmocka_unit_test(test_readable_names_match_without_abi_tags_and_hashes),
		cmocka_unit_test(test_entry_is_for_its_versions_where_the_version_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
