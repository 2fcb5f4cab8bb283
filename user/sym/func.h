/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * func.h - a function that is to be probed: what sym/ finds, what probe/ places sites for and what
 * trace/ attaches. Plain data; strings belong to the func_list.
 */
#ifndef HBPROF_FUNC_H
#define HBPROF_FUNC_H

#include <hbprof/abi.h>

struct func {
	char *name; /* as shown: Go name, demangled C++ or Rust, C */
	char *codec, *op;
	char *library, *library_version; /* NULL where not known */
	char *note;			 /* NULL or a remark for the report */
	char *clone; /* NULL, or the symbol of the compiler's copy of the function that this is */
	char *part;  /* NULL, or the symbol of a part that callers jump into without a call of it */
	u64 vaddr;   /* link address of the first instruction */
	u64 size;    /* bytes of the body; 0: not known */
	enum hb_lang lang;
	u32 traits; /* REGISTRY_*, of registry.h */
	u32 entry;  /* of the registry, + 1; 0: named by the user */
	struct hb_value size_in, size_out, err;
	enum hb_err_kind err_kind;
};

struct func_list {
	struct func *v;
	size_t nr, cap;
};

void func_list__init(struct func_list *l);
void func_list__fini(struct func_list *l);
/* Appends a copy of f and its strings. 0 or -ENOMEM: nothing was added. */
int func_list__add(struct func_list *l, const struct func *f);

#endif
