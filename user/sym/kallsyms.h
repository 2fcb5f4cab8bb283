/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kallsyms.h - names of kernel addresses from the text of /proc/kallsyms, which has a hundred thousand
 * lines or more: none is kept but those asked for.
 */
#ifndef HBPROF_KALLSYMS_H
#define HBPROF_KALLSYMS_H

#include <stdio.h>

#include <hbprof/types.h>

#define KALLSYMS_PATH "/proc/kallsyms"

/* An address, and the function that it is in: "name" or "name [module]"; NULL: not found. */
struct kaddr {
	u64 addr;
	u64 start; /* of the function */
	char *name;
};

/*
 * Finds the functions of nr addresses, which come back sorted. Memory follows nr. 0; -EACCES: all addresses in the file are 0, as kernel.kptr_restrict hides them;
 * -ENOMEM; -EIO. On failure no name is set. Whatever is set is the caller's to free.
 */
int kallsyms__find(FILE *f, struct kaddr *v, size_t nr);

#endif
