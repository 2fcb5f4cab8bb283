// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * make_sample.c - writes the files of this folder anew, after a wanted change of the capture format
 * or of a report; see README.md. Arguments: the folder.
 */
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "report/report.h"
#include "tests/unit/view_sample.h"
#include "util/fsutil.h"

static int write_report(const struct recording *r, const char *dir, const char *name,
			const struct report_opts *opts)
{
	char path[4096];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		return -1;
	err = report__print(r, opts, f);
	return fclose(f) ? -1 : err;
}

static int write_frame(const char *dir, const struct view_sample *v)
{
	char path[4096], *text = view_sample_text(v);
	int err;

	snprintf(path, sizeof(path), "%s/%s", dir, v->file);
	err = fs_replace_file(path, text, strlen(text));
	free(text);
	return err;
}

static int write_with_stacks(const char *dir)
{
	struct recording *r = sample_recording();
	char path[4096];
	int err;

	sample_stacks(r);
	snprintf(path, sizeof(path), "%s/sample-stacks.hbp", dir);
	err = capture__write(r, path);
	recording__free(r);
	return err;
}

int main(int argc, char **argv)
{
	struct recording *r = sample_recording();
	char path[4096];
	int err;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/sample.hbp", argv[1]);
	err = capture__write(r, path);
	if (!err)
		err = write_with_stacks(argv[1]);
	for (u32 i = 0; !err && i < SAMPLE_NR_REPORTS; i++)
		err = write_report(r, argv[1], sample_reports[i].file, &sample_reports[i].opts);
	for (u32 i = 0; !err && i < VIEW_NR_SAMPLES; i++)
		err = write_frame(argv[1], &view_samples[i]);
	if (err)
		fprintf(stderr, "cannot write to %s: %s\n", argv[1], strerror(-err));
	recording__free(r);
	return err != 0;
}
