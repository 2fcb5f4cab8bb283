// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* calstore.c - see calstore.h. */
#include "capture/calstore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hbprof/version.h>

#include "capture/capture.h"
#include "capture/host.h"
#include "util/array.h"
#include "util/fsutil.h"

#define FILE_NAME     "calibration.hbp"
#define MAX_BYTES     (64u << 10) /* some 100 calibrations; a real one has 2 KB */
#define ROOT_FOLDER   "/var/lib/hbprof"
#define HOME_FOLDER   "/.local/state/hbprof"
#define FACT_MACHINE  "machine"
#define NO_MACHINE_ID "n/a (no /etc/machine-id)"

/* Where it changes, a probe may cost something else. */
static const char *const same_facts[] = {"cpu_model", "arch",		"cpus_online",
					 "kernel",    "virtualization", FACT_MACHINE};

/* ---- where -------------------------------------------------------------------------------- */

/* 0, or -ENAMETOOLONG; -ENOENT: there is no home. */
static int state_folder(char *buf, size_t len, bool system)
{
	const char *own = getenv("HBPROF_STATE"), *xdg = getenv("XDG_STATE_HOME"),
		   *home = getenv("HOME");
	int n;

	if (own && *own)
		n = snprintf(buf, len, "%s", own);
	else if (system)
		n = snprintf(buf, len, "%s", ROOT_FOLDER);
	else if (xdg && *xdg == '/')
		n = snprintf(buf, len, "%s/hbprof", xdg);
	else if (home && *home == '/')
		n = snprintf(buf, len, "%s" HOME_FOLDER, home);
	else
		return -ENOENT;
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/* The folder and those above it that are missing. */
static int make_folder(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST) {
			*p = '/';
			return -errno;
		}
		*p = '/';
	}
	return mkdir(path, 0755) && errno != EEXIST ? -errno : 0;
}

/* ---- this machine ------------------------------------------------------------------------- */

static int add_machine_id(struct m_host *h)
{
	char *s = NULL;
	size_t len;
	int err = fs_read_file("/etc/machine-id", 256, &s, &len);

	if (!err)
		s[strcspn(s, "\n")] = '\0';
	err = m_host__add(h, FACT_MACHINE, err ? NO_MACHINE_ID : s);
	free(s);
	return err;
}

static const char *fact(const struct m_host *h, const char *key)
{
	for (u32 i = 0; i < h->nr_facts; i++)
		if (!strcmp(h->fact[i].key, key))
			return h->fact[i].value;
	return "";
}

static int read_host(struct m_host *h)
{
	int err = host__read("", h);

	return err ? err : add_machine_id(h);
}

/* NULL, or what is not the same. */
static const char *other_fact(const struct m_host *a, const struct m_host *b)
{
	for (size_t i = 0; i < sizeof(same_facts) / sizeof(*same_facts); i++)
		if (strcmp(fact(a, same_facts[i]), fact(b, same_facts[i])))
			return same_facts[i];
	return NULL;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Root reads what a user's variable may name: no links, no devices, nothing that others may write. */
static int read_regular(const char *path, char **bytes, size_t *len)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char self[32];
	struct stat st;
	int err = 0;

	if (fd < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
		 (st.st_mode & (S_IWGRP | S_IWOTH)))
		err = -EPERM;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (!err)
		err = fs_read_file(self, MAX_BYTES, bytes, len);
	close(fd);
	return err;
}

static int load_from(bool system, struct recording **out)
{
	char path[PATH_MAX], why[128], *bytes = NULL;
	size_t len = 0, at;
	int err = state_folder(path, sizeof(path) - sizeof(FILE_NAME) - 1, system);

	if (err)
		return err;
	at = strlen(path);
	snprintf(path + at, sizeof(path) - at, "/" FILE_NAME);
	err = read_regular(path, &bytes, &len);
	if (!err)
		err = capture__read_mem(bytes, len, path, out, why, sizeof(why));
	free(bytes);
	return err;
}

static int check(const struct recording *rec, char *why, size_t whylen)
{
	struct m_host here = {0};
	struct recording *holder = recording__new();
	const char *other;
	int err = holder ? read_host(&here) : -ENOMEM;

	if (holder)
		holder->host = here;
	other = err ? NULL : other_fact(&rec->host, &here);
	if (!err && (!rec->version || strcmp(rec->version, HBPROF_VERSION)))
		other = "version of hbprof";
	if (other) {
		err = -ESTALE;
		snprintf(why, whylen, "the calibration that is kept is of another %s", other);
	}
	recording__free(holder);
	return err;
}

int calstore__load(struct recording **out, char *why, size_t whylen)
{
	struct recording *rec = NULL;
	int err = load_from(geteuid() == 0, &rec);

	/* Root's is for all to read. */
	if (err == -ENOENT && geteuid())
		err = load_from(true, &rec);
	if (err == -ENOENT)
		snprintf(why, whylen, "no calibration of this host yet");
	else if (err == -EPERM)
		snprintf(why, whylen,
			 "the file that keeps the calibration is a link, or others may "
			 "write it");
	else if (err)
		snprintf(why, whylen, "the calibration that is kept cannot be read");
	if (!err)
		err = check(rec, why, whylen);
	if (err)
		recording__free(rec);
	else
		*out = rec;
	return err;
}

const struct m_cal *calstore__pair(const struct recording *rec, u8 lang, u8 entry_class,
				   u8 exit_class)
{
	for (u32 i = rec->nr_cals; i-- > 0;) {
		const struct m_cal *c = &rec->cal[i];

		if (c->lang == lang && c->entry_class == entry_class && c->exit_class == exit_class)
			return c;
	}
	return NULL;
}

/* ---- writing ------------------------------------------------------------------------------ */

static bool is_last(const struct recording *rec, u32 i)
{
	const struct m_cal *c = &rec->cal[i];

	return calstore__pair(rec, c->lang, c->entry_class, c->exit_class) == c;
}

static int cmp_time(const void *a, const void *b)
{
	const struct m_cal *x = a, *y = b;

	return (x->mono_ns > y->mono_ns) - (x->mono_ns < y->mono_ns);
}

/* The last of each pair; of those that rec has not, the ones that were kept. */
static int pick_cals(const struct recording *rec, const struct recording *kept,
		     struct recording *to)
{
	u32 nr_kept = kept ? kept->nr_cals : 0;
	s64 wall = (s64)(rec->begin_wall_ns - rec->begin_mono_ns);

	to->cal = array_alloc((size_t)rec->nr_cals + nr_kept + 1, sizeof(*to->cal));
	if (!to->cal)
		return -ENOMEM;
	for (u32 i = 0; i < rec->nr_cals; i++) {
		if (!is_last(rec, i))
			continue;
		to->cal[to->nr_cals] = rec->cal[i];
		to->cal[to->nr_cals++].mono_ns += wall;
	}
	for (u32 i = 0; i < nr_kept; i++) {
		const struct m_cal *c = &kept->cal[i];

		if (!calstore__pair(rec, c->lang, c->entry_class, c->exit_class))
			to->cal[to->nr_cals++] = *c;
	}
	qsort(to->cal, to->nr_cals, sizeof(*to->cal), cmp_time);
	return 0;
}

static int fill(const struct recording *rec, struct recording *to)
{
	struct recording *kept = NULL;
	char why[128];
	int err;

	calstore__load(&kept, why, sizeof(why));
	err = pick_cals(rec, kept, to);
	recording__free(kept);
	if (!err)
		err = read_host(&to->host);
	to->version = strdup(HBPROF_VERSION);
	to->attach = rec->attach ? strdup(rec->attach) : NULL;
	to->stop_reason = strdup("calibration");
	to->begin_wall_ns = to->begin_mono_ns = to->end_mono_ns = rec->begin_wall_ns;
	to->coverage.balanced = true;
	return !err && (!to->version || !to->stop_reason) ? -ENOMEM : err;
}

int calstore__save(const struct recording *rec)
{
	char path[PATH_MAX], *bytes = NULL;
	struct recording *to;
	size_t len = 0, at;
	int err;

	if (!rec->nr_cals)
		return 0;
	to = recording__new();
	err = to ? state_folder(path, sizeof(path) - sizeof(FILE_NAME) - 1, geteuid() == 0)
		 : -ENOMEM;
	if (!err)
		err = make_folder(path);
	if (!err)
		err = fill(rec, to);
	if (!err)
		err = capture__write_mem(to, &bytes, &len);
	if (!err) {
		at = strlen(path);
		snprintf(path + at, sizeof(path) - at, "/" FILE_NAME);
		err = fs_replace_own_file(path, bytes, len);
	}
	free(bytes);
	recording__free(to);
	return err;
}
