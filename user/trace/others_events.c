// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * others_events.c - the probes of the kernel's own tracer, which `perf probe` and trace-cmd use:
 * uprobe_events of tracefs, a line each (Documentation/trace/uprobetracer.rst):
 *
 *   p:GROUP/EVENT PATH:0xOFFSET[(0xREF_CTR)] [ARGS]
 *
 * r or p ends at a digit or colon; r may have a number, as in kprobe_events. PATH may hold colons.
 */
#include "trace/others_impl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fsutil.h"

#define MAX_EVENTS_FILE (16u << 20)

/* The first blank that follows ":0x" and hex digits ends the place. */
static const char *find_offset(const char *path)
{
	const char *at = NULL;

	for (const char *s = path; (s = strstr(s, ":0x")); s++) {
		size_t digits = strspn(s + 3, "0123456789abcdefABCDEF");
		char end = s[3 + digits];

		at = s;
		if (digits && (!end || strchr(" (%\n", end)))
			return at;
	}
	return NULL;
}

bool uprobe_event_parse(const char *line, char *name, size_t name_len, char *path, size_t path_len,
			u64 *off)
{
	const char *colon, *blank, *at;
	int n;

	if (*line != 'p' && *line != 'r')
		return false;
	colon = line + 1 + strspn(line + 1, "0123456789");
	blank = strchr(line, ' ');
	if (*colon != ':' || !blank)
		return false;
	n = snprintf(name, name_len, "%.*s", (int)(blank - colon - 1), colon + 1);
	if (n < 0 || (size_t)n >= name_len)
		return false;
	at = find_offset(blank + 1);
	if (!at)
		return false;
	n = snprintf(path, path_len, "%.*s", (int)(at - blank - 1), blank + 1);
	if (n < 0 || (size_t)n >= path_len)
		return false;
	*off = strtoull(at + 1, NULL, 16);
	return true;
}

static void scan_text(struct others_scan *s, char *text)
{
	char name[64], path[PATH_MAX], who[96], *save = NULL;
	u64 off;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!uprobe_event_parse(line, name, sizeof(name), path, sizeof(path), &off))
			continue;
		snprintf(who, sizeof(who), "uprobe event %s", name);
		others__probe(s, path, off, who);
	}
}

void others__scan_events(struct others_scan *s, const char *root)
{
	static const char *const tops[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char full[PATH_MAX], *text;
	size_t len;

	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		snprintf(full, sizeof(full), "%s%s/uprobe_events", root, tops[i]);
		if (fs_read_file(full, MAX_EVENTS_FILE, &text, &len))
			continue;
		scan_text(s, text);
		free(text);
		return;
	}
}
