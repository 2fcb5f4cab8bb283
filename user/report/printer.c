// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* printer.c - builds the view of a recording, has it formatted, writes it out. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "report/export.h"
#include "report/json.h"
#include "report/requests_report.h"
#include "report/table.h"
#include "util/units.h"

#define MAX_REPORT ((size_t)1 << 30)

u32 report_width(int fd)
{
	const char *env = getenv("COLUMNS");
	struct winsize ws;
	u64 n;

	if (env && !parse_u64(env, 10000, &n))
		return (u32)n;
	return ioctl(fd, TIOCGWINSZ, &ws) ? 0 : ws.ws_col;
}

static int write_out(const struct strbuf *b, FILE *f)
{
	/* A stream that failed before is not to look well again. */
	if (ferror(f))
		return -EIO;
	errno = 0;
	if (fwrite(b->s, 1, b->len, f) == b->len && !fflush(f))
		return 0;
	return errno ? -errno : -EIO;
}

int report__print(const struct recording *r, const struct report_opts *opts, FILE *f)
{
	struct view v = {.r = r, .opts = opts};
	struct strbuf text;
	int err;

	strbuf__init(&text, MAX_REPORT);
	v.out = &text;
	err = groups__build(&v.groups, r,
			    opts->format != REPORT_TABLE || opts->by == REPORT_BY_PROCESS);
	if (!err)
		err = bias_list(r, &v.groups, &v.bias, &v.nr_biases);
	if (err)
		goto out;
	if (opts->format == REPORT_JSON) {
		err = json__print(&v);
	} else if (opts->format == REPORT_CSV) {
		err = export_csv(&v);
	} else {
		table__facts(&v);
		table__rows(&v);
		table__counters(&v);
		table__time(&v);
		table__requests(&v);
		table__coverage(&v);
	}
	if (!err)
		err = text.err;
	if (!err)
		err = write_out(&text, f);
out:
	free(v.bias);
	groups__fini(&v.groups);
	strbuf__fini(&text);
	return err;
}
