// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * clones.c - the suffixes, words and numbers between dots: "enc.constprop.0.isra.0".
 *
 * gcc 12: clone_function_name() and its callers in gcc/ipa-cp.cc, ipa-sra.cc, ipa-split.cc,
 * lto/lto-partition.cc, symtab.cc. LLVM: FunctionSpecialization, FunctionImportUtils
 * (getPromotedName), UniqueInternalLinkageNames.
 */
#include "sym/clones.h"

#include <string.h>

static const struct {
	const char *word;
	enum clone_kind kind;
} words[] = {
	{"localalias", CLONE_COPY}, {"lto_priv", CLONE_COPY},	 {"llvm", CLONE_COPY},
	{"__uniq", CLONE_COPY},	    {"constprop", CLONE_PARAMS}, {"specialized", CLONE_PARAMS},
	{"argelim", CLONE_PARAMS},  {"argprom", CLONE_PARAMS},	 {"isra", CLONE_RESULT},
	{"retelim", CLONE_RESULT},  {"part", CLONE_PART},	 {"cold", CLONE_COLD},
};

static enum clone_kind word_kind(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i].word) == len && !memcmp(words[i].word, s, len))
			return words[i].kind;
	}
	return CLONE_NONE;
}

enum clone_kind clone_kind(const char *suffix)
{
	enum clone_kind most = CLONE_NONE;

	while (*suffix == '.') {
		size_t len = strcspn(++suffix, ".");
		enum clone_kind kind;

		if (!len)
			return CLONE_NONE;
		if (strspn(suffix, "0123456789") < len) {
			kind = word_kind(suffix, len);
			if (kind == CLONE_NONE)
				return CLONE_NONE;
			if (kind > most)
				most = kind;
		}
		suffix += len;
	}
	return *suffix ? CLONE_NONE : most;
}
