/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elfseeds.h - good ELF files of about 20 KB for the fuzzers to damage: one of each shape that the
 * readers of user/target and user/sym tell apart. Made anew at each start; nothing is committed.
 */
#ifndef HBPROF_ELFSEEDS_H
#define HBPROF_ELFSEEDS_H

#include "elfbuild.h"

#define SEED_MAX_HOT 24

struct elf_seed {
	const char *name;
	struct elf_blob file;
	/* Headers and tables: parts of the file in which a damaged byte means something. */
	struct elf_blob hot[SEED_MAX_HOT];
	u32 nr_hot;
	/* What the undamaged file must give: a test over files that are refused at once tests nothing. */
	const char *function; /* in its symbol table */
	const char *build_id;
	const char *go_version; /* NULL: no build info */
	u32 nr_codecs;		/* functions of the registry */
	u32 nr_ranges;		/* functions in its unwind table */
	u32 nr_imports;		/* calls and jumps through import slots */
};

/* All of them, until a NULL name; one set for the whole run. */
struct elf_seed *elf_seeds__make(void);
void elf_seeds__free(struct elf_seed *seeds);

#endif
