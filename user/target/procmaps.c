// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * procmaps.c - the text of /proc/PID/maps. Format: proc(5), show_map_vma() in fs/proc/task_mmu.c of
 * Linux. Where the text comes from is left to proc.c.
 */
#include "target/procmaps.h"

#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

struct map_list {
	struct proc_map *v;
	size_t nr, cap;
};

/* A hexadecimal number and the byte that must follow it. */
static bool take_hex(char **at, char then, u64 *out)
{
	char *end;

	errno = 0;
	*out = strtoull(*at, &end, 16);
	if (errno || end == *at || *end != then)
		return false;
	*at = end + 1;
	return true;
}

/* "55d0c000-55d0e000 r-xp 00002000 fe:00 131 <spaces> /path": all is hexadecimal but the inode. */
static int map_parse(char *line, struct proc_map *m)
{
	u64 major_nr, minor_nr;
	char *end;

	if (!take_hex(&line, '-', &m->begin) || !take_hex(&line, ' ', &m->end) ||
	    m->end < m->begin || strnlen(line, 5) < 5 || line[4] != ' ')
		return -EBADMSG;
	m->write = line[1] == 'w';
	m->exec = line[2] == 'x';
	line += 5;
	if (!take_hex(&line, ' ', &m->off) || !take_hex(&line, ':', &major_nr) ||
	    !take_hex(&line, ' ', &minor_nr))
		return -EBADMSG;
	m->dev = makedev((unsigned)major_nr, (unsigned)minor_nr);
	errno = 0;
	m->ino = strtoull(line, &end, 10);
	if (errno || end == line)
		return -EBADMSG;
	m->path = strdup(end + strspn(end, " "));
	return m->path ? 0 : -ENOMEM;
}

static int map_list__fill(struct map_list *list, char *text)
{
	char *line, *next;

	for (line = text; *line; line = next) {
		int err;

		next = strchr(line, '\n');
		if (!next)
			return -EBADMSG;
		*next++ = '\0';
		err = array_grow((void **)&list->v, list->nr, &list->cap, sizeof(*list->v));
		if (err)
			return err;
		err = map_parse(line, &list->v[list->nr]);
		if (err)
			return err;
		list->nr++;
	}
	return 0;
}

int proc_maps__parse(char *text, struct proc_map **v, u32 *nr)
{
	struct map_list list = {0};
	int err;

	err = map_list__fill(&list, text);
	if (!err && list.nr > UINT32_MAX)
		err = -EBADMSG;
	if (err) {
		while (list.nr)
			free(list.v[--list.nr].path);
		free(list.v);
		return err;
	}
	*v = list.v;
	*nr = (u32)list.nr;
	return 0;
}

void proc_maps__free(struct proc_map *v, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		free(v[i].path);
	free(v);
}
