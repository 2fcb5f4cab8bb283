/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_calstore.c - calibrations that are kept between runs: what is kept, and what is believed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/calstore.h"
#include "capture/capture.h"
#include "util/fsutil.h"

static char folder[64], file[128], why[128];

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/hbprof-calstore.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	/* A folder that is not there yet, in another one. */
	snprintf(file, sizeof(file), "%s/a/b", folder);
	setenv("HBPROF_STATE", file, 1);
	snprintf(file, sizeof(file), "%s/a/b/calibration.hbp", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char sub[128];

	unlink(file);
	snprintf(sub, sizeof(sub), "%s/a/b/elsewhere", folder);
	unlink(sub);
	snprintf(sub, sizeof(sub), "%s/a/b", folder);
	rmdir(sub);
	snprintf(sub, sizeof(sub), "%s/a", folder);
	rmdir(sub);
	return rmdir(folder);
}

/* Calibrations of native pairs: {entry class, exit class, total_ns}, a second apart. */
static void save(const u32 v[][3], u32 nr, u64 begin_wall_s)
{
	struct recording *r = recording__new();

	r->begin_wall_ns = begin_wall_s * 1000000000;
	r->begin_mono_ns = 500;
	r->cal = calloc(nr, sizeof(*r->cal));
	for (u32 i = 0; i < nr; i++)
		r->cal[r->nr_cals++] = (struct m_cal){.mono_ns = 500 + i * 1000000000ULL,
						      .entry_class = v[i][0],
						      .exit_class = v[i][1],
						      .total_ns = v[i][2]};
	assert_int_equal(calstore__save(r), 0);
	recording__free(r);
}

static const u32 one[][3] = {{HB_CLASS_PUSH, HB_CLASS_BRANCH, 1400}};

static int load(struct recording **out)
{
	*out = NULL;
	why[0] = '\0';
	return calstore__load(out, why, sizeof(why));
}

/* Not loaded, for that reason. */
static void check_refused(int err, const char *reason)
{
	struct recording *r;

	assert_int_equal(load(&r), err);
	assert_null(r);
	if (!strstr(why, reason))
		fail_msg("'%s' does not say '%s'", why, reason);
}

static void test_the_last_calibration_of_each_pair_is_kept_with_its_date(void **state)
{
	static const u32 v[][3] = {{HB_CLASS_PUSH, HB_CLASS_BRANCH, 1400},
				   {HB_CLASS_PUSH, HB_CLASS_STEP, 9000},
				   {HB_CLASS_PUSH, HB_CLASS_BRANCH, 1500}};
	struct recording *r;

	save(v, 3, 1000);
	assert_int_equal(load(&r), 0);
	assert_int_equal(r->nr_cals, 2);
	assert_int_equal(calstore__pair(r, 0, HB_CLASS_PUSH, HB_CLASS_BRANCH)->total_ns, 1500);
	assert_int_equal(calstore__pair(r, 0, HB_CLASS_PUSH, HB_CLASS_BRANCH)->mono_ns,
			 1002000000000);
	assert_int_equal(calstore__pair(r, 0, HB_CLASS_PUSH, HB_CLASS_STEP)->total_ns, 9000);
	assert_int_equal(calstore__pair(r, 0, HB_CLASS_PUSH, HB_CLASS_STEP)->mono_ns,
			 1001000000000);
	assert_null(calstore__pair(r, HB_LANG_GO, HB_CLASS_PUSH, HB_CLASS_BRANCH));
	recording__free(r);
}

static void test_pairs_that_a_later_run_did_not_measure_stay(void **state)
{
	static const u32 later[][3] = {{HB_CLASS_BRANCH, HB_CLASS_BRANCH, 1300}};
	struct recording *r;

	save(one, 1, 1000);
	save(later, 1, 2000);
	assert_int_equal(load(&r), 0);
	assert_int_equal(r->nr_cals, 2);
	assert_int_equal(calstore__pair(r, 0, HB_CLASS_PUSH, HB_CLASS_BRANCH)->mono_ns,
			 1000000000000);
	assert_int_equal(calstore__pair(r, 0, HB_CLASS_BRANCH, HB_CLASS_BRANCH)->mono_ns,
			 2000000000000);
	recording__free(r);
}

static void test_a_run_without_calibrations_leaves_what_is_kept(void **state)
{
	struct recording *r = recording__new();

	save(one, 1, 1000);
	assert_int_equal(calstore__save(r), 0);
	recording__free(r);
	assert_int_equal(load(&r), 0);
	assert_int_equal(r->nr_cals, 1);
	recording__free(r);
}

static void test_nothing_kept_is_no_calibration_yet(void **state)
{
	check_refused(-ENOENT, "no calibration of this host yet");
}

/* Reads the file, changes a fact or the version, and writes it again. */
static void forge(const char *key, const char *value)
{
	struct recording *r = NULL;
	char *bytes;
	size_t len;

	assert_int_equal(capture__read(file, &r, why, sizeof(why)), 0);
	for (u32 i = 0; i < r->host.nr_facts; i++) {
		if (strcmp(r->host.fact[i].key, key) != 0)
			continue;
		free(r->host.fact[i].value);
		r->host.fact[i].value = strdup(value);
	}
	if (!strcmp(key, "hbprof")) {
		free(r->version);
		r->version = strdup(value);
	}
	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	assert_int_equal(fs_replace_own_file(file, bytes, len), 0);
	free(bytes);
	recording__free(r);
}

static void test_another_machine_s_kernel_s_or_version_s_is_not_believed(void **state)
{
	static const char *const keys[] = {"cpu_model", "kernel", "machine", "virtualization"};
	struct recording *r;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		save(one, 1, 1000);
		forge(keys[i], "another");
		check_refused(-ESTALE, keys[i]);
		/* and is not kept beside this machine's */
		save(one, 1, 1000);
		unlink(file);
	}
	save(one, 1, 1000);
	forge("hbprof", "0.0.1");
	check_refused(-ESTALE, "version of hbprof");
	/* What makes no difference to a probe may differ. */
	save(one, 1, 1000);
	forge("frequency_mhz", "another");
	assert_int_equal(load(&r), 0);
	recording__free(r);
}

static void test_a_link_and_what_others_may_write_are_not_read(void **state)
{
	char other[128];

	save(one, 1, 1000);
	assert_int_equal(chmod(file, 0666), 0);
	check_refused(-EPERM, "others may write");
	assert_int_equal(chmod(file, 0644), 0);
	snprintf(other, sizeof(other), "%s/a/b/elsewhere", folder);
	assert_int_equal(rename(file, other), 0);
	assert_int_equal(symlink("elsewhere", file), 0);
	check_refused(-EPERM, "a link");
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0);
	check_refused(-EPERM, "a link");
}

static void test_what_is_damaged_is_not_believed(void **state)
{
	save(one, 1, 1000);
	assert_int_equal(truncate(file, 100), 0);
	check_refused(-EBADMSG, "cannot be read");
	assert_int_equal(fs_replace_own_file(file, "{}", 2), 0);
	check_refused(-EBADMSG, "cannot be read");
	save(one, 1, 1000);
	assert_int_equal(truncate(file, 1 << 20), 0);
	check_refused(-EFBIG, "cannot be read");
}

static void test_a_link_in_its_place_is_not_written_through(void **state)
{
	struct recording *r = recording__new();

	save(one, 1, 1000);
	unlink(file);
	assert_int_equal(symlink("elsewhere", file), 0);
	r->cal = calloc(1, sizeof(*r->cal));
	r->nr_cals = 1;
	r->begin_wall_ns = 5;
	r->begin_mono_ns = 5;
	assert_int_equal(calstore__save(r), -EEXIST);
	recording__free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_the_last_calibration_of_each_pair_is_kept_with_its_date),
		T(test_pairs_that_a_later_run_did_not_measure_stay),
		T(test_a_run_without_calibrations_leaves_what_is_kept),
		T(test_nothing_kept_is_no_calibration_yet),
		T(test_another_machine_s_kernel_s_or_version_s_is_not_believed),
		T(test_a_link_and_what_others_may_write_are_not_read),
		T(test_what_is_damaged_is_not_believed),
		T(test_a_link_in_its_place_is_not_written_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
