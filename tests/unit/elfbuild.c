// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * elfbuild.c - small ELF files in memory. What is inside (symbols, Go tables, code) the tests make
 * themselves and hand in as bytes.
 */
#include "elfbuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELFBUILD_MAX_BYTES (64u << 20)

static void die(const char *why)
{
	fprintf(stderr, "elfbuild: %s\n", why);
	abort();
}

void elfbuild__init(struct elfbuild *b, u16 e_type, u16 e_machine)
{
	static const char first_name = '\0';

	memset(b, 0, sizeof(*b));
	memcpy(b->eh.e_ident, ELFMAG, SELFMAG);
	b->eh.e_ident[EI_CLASS] = ELFCLASS64;
	b->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	b->eh.e_ident[EI_VERSION] = EV_CURRENT;
	b->eh.e_type = e_type;
	b->eh.e_machine = e_machine;
	b->eh.e_version = EV_CURRENT;
	b->eh.e_ehsize = sizeof(b->eh);
	b->eh.e_phoff = sizeof(b->eh);
	b->eh.e_phentsize = sizeof(b->ph[0]);
	b->eh.e_shentsize = sizeof(b->sh[0]);
	b->eh.e_shnum = 1;
	strbuf__init(&b->file, ELFBUILD_MAX_BYTES);
	strbuf__init(&b->names, ELFBUILD_MAX_BYTES);
	strbuf__add(&b->names, &first_name, 1);
	elfbuild__data(b, NULL, sizeof(b->eh) + sizeof(b->ph), 1);
}

struct elf_blob elfbuild__data(struct elfbuild *b, const void *bytes, size_t len, size_t align)
{
	struct elf_blob blob = {.len = len};

	while (b->file.len % align)
		strbuf__addc(&b->file, '\0');
	blob.off = b->file.len;
	if (bytes)
		strbuf__add(&b->file, bytes, len);
	for (size_t i = 0; !bytes && i < len; i++)
		strbuf__addc(&b->file, '\0');
	if (b->file.err)
		die("the file has become too large");
	return blob;
}

struct elf_blob elfbuild__note(struct elfbuild *b, const char name[4], u32 type, const void *desc,
			       size_t len)
{
	const Elf64_Nhdr nh = {.n_namesz = 4, .n_descsz = (u32)len, .n_type = type};
	struct elf_blob blob = elfbuild__data(b, &nh, sizeof(nh), 4);

	elfbuild__data(b, name, 4, 1);
	elfbuild__data(b, desc, len, 1);
	elfbuild__data(b, NULL, 0, 4);
	blob.len = b->file.len - blob.off;
	return blob;
}

Elf64_Phdr *elfbuild__segment(struct elfbuild *b, u32 type, u32 flags, u64 vaddr,
			      struct elf_blob data, u64 memsz)
{
	Elf64_Phdr *ph;

	if (b->eh.e_phnum == ELFBUILD_MAX_SEGS)
		die("too many segments");
	ph = &b->ph[b->eh.e_phnum++];
	*ph = (Elf64_Phdr){
		.p_type = type,
		.p_flags = flags,
		.p_offset = data.off,
		.p_vaddr = vaddr,
		.p_paddr = vaddr,
		.p_filesz = data.len,
		.p_memsz = memsz,
		.p_align = 4,
	};
	return ph;
}

u32 elfbuild__section(struct elfbuild *b, const char *name, u32 type, u64 flags, u64 vaddr,
		      struct elf_blob data, u32 link, u64 entsize)
{
	if (b->eh.e_shnum == ELFBUILD_MAX_SECTS - 1)
		die("too many sections");
	b->sh[b->eh.e_shnum] = (Elf64_Shdr){
		.sh_name = (u32)b->names.len,
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = vaddr,
		.sh_offset = data.off,
		.sh_size = data.len,
		.sh_link = link,
		.sh_addralign = 1,
		.sh_entsize = entsize,
	};
	strbuf__add(&b->names, name, strlen(name) + 1);
	return b->eh.e_shnum++;
}

/* Section headers and the section of their names, at the end of the file. */
static void elfbuild__add_sections(struct elfbuild *b)
{
	struct elf_blob names = {0}, table;
	u32 i = elfbuild__section(b, ".shstrtab", SHT_STRTAB, 0, 0, names, 0, 0);

	names = elfbuild__data(b, b->names.s, b->names.len, 1);
	b->sh[i].sh_offset = names.off;
	b->sh[i].sh_size = names.len;
	b->eh.e_shstrndx = (u16)i;
	if (b->count_in_first) {
		b->sh[0].sh_size = b->eh.e_shnum;
		b->sh[0].sh_link = i;
		b->eh.e_shstrndx = SHN_XINDEX;
	}
	table = elfbuild__data(b, b->sh, b->eh.e_shnum * sizeof(b->sh[0]), 8);
	b->eh.e_shoff = table.off;
	if (b->count_in_first)
		b->eh.e_shnum = 0;
}

void elfbuild__finish(struct elfbuild *b, struct elf_blob *file)
{
	if (b->no_sections)
		b->eh.e_shnum = b->eh.e_shentsize = 0;
	else
		elfbuild__add_sections(b);
	if (!b->eh.e_phnum)
		b->eh.e_phoff = b->eh.e_phentsize = 0;
	memcpy(b->file.s, &b->eh, sizeof(b->eh));
	memcpy(b->file.s + sizeof(b->eh), b->ph, sizeof(b->ph));
	*file = (struct elf_blob){.len = b->file.len};
	file->bytes = (u8 *)strbuf__take(&b->file);
	if (!file->bytes)
		die("no memory");
	strbuf__fini(&b->names);
}

void elf_blob__free(struct elf_blob *file)
{
	free(file->bytes);
	*file = (struct elf_blob){0};
}

Elf64_Ehdr *elf_header(const struct elf_blob *file)
{
	return (Elf64_Ehdr *)file->bytes;
}

Elf64_Phdr *elf_segment(const struct elf_blob *file, u32 i)
{
	return (Elf64_Phdr *)(file->bytes + sizeof(Elf64_Ehdr)) + i;
}

Elf64_Shdr *elf_section(const struct elf_blob *file, u32 i)
{
	return (Elf64_Shdr *)(file->bytes + elf_header(file)->e_shoff) + i;
}
