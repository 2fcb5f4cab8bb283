/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfile.h - ELF files with functions, for the tests of user/sym: a Go function table with its
 * moduledata, ELF symbol tables, a dynamic section. Made over elfbuild.h; every part is where the
 * test asks for it, and its place in the file is told, to damage it.
 *
 * The file has code at SYMFILE_CODE (RX), the Go table at SYMFILE_TAB (R), data at SYMFILE_DATA (RW):
 * moduledata first, and at SYMFILE_DYN (RW) the dynamic section with what it points to.
 */
#ifndef HBPROF_SYMFILE_H
#define HBPROF_SYMFILE_H

#include "elfbuild.h"

#define SYMFILE_CODE	   0x401000
#define SYMFILE_CODE_BYTES 0x1000
#define SYMFILE_TAB	   0x500000
#define SYMFILE_DATA	   0x600000
#define SYMFILE_DYN	   0x700000

#define SYMFILE_MAGIC_1_18 0xfffffff0u
#define SYMFILE_MAGIC_1_20 0xfffffff1u

struct symfile_go { /* functions follow each other */
	const char *name;
	u32 size;
	u8 id; /* FuncID */
};

struct symfile_inlined { /* functions of the list, as copies inside another one */
	u8 nr;
	u8 of[4];
};

struct symfile_elf {
	const char *name;
	u64 vaddr, size;
	u8 type; /* STT_* */
	bool dyn, import;
};

/* The fields of a symbol that always matter. */
#define SYMFILE_SYM(n, at, len, t) .name = (n), .vaddr = (at), .size = (len), .type = (t)

enum symfile_moduledata { MODULEDATA_IN_PLACE, MODULEDATA_RELA, MODULEDATA_NONE };

struct symfile {
	u16 type, machine; /* 0: ET_EXEC, EM_X86_64 */
	bool no_sections;

	const struct symfile_go *go; /* NULL: not a Go program */
	u32 nr_go;
	const struct symfile_inlined *inlined; /* per function; NULL: no tables of that */
	u32 magic;			       /* 0: of Go 1.20 */
	u64 text;			       /* in moduledata; 0: SYMFILE_CODE */
	u64 text_start;			       /* in the header */
	enum symfile_moduledata moduledata;

	const struct symfile_elf *elf;
	u32 nr_elf;
	bool dynamic; /* a dynamic section; implied by the next two and by RELA */
	const char *soname, *needed;
	bool interp, gnu_hash;

	const void *data; /* after moduledata, 16-byte aligned */
	size_t data_len;

	/* Told by symfile__build(): where funcdata counts from, or 0; file offsets. */
	u64 gofunc;
	struct elf_blob tab, funcs, names, moduledata_at, data_at, symtab, strtab, dynsym, dynstr,
		dyn, hash, rela;
};

void symfile__build(struct symfile *s, struct elf_blob *file);

#endif
