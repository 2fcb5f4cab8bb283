// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* codecopt.c - which codecs are known: those built in and those of --codecs. */
#include "cmd/codecopt.h"

#include <errno.h>
#include <string.h>

#include "util/log.h"

int codecopt__open(const char *const *files, size_t nr, bool groups, struct registry **out)
{
	struct registry *r = NULL;
	int err = registry__open(&r);

	if (!err && groups)
		err = registry__add_groups(r);
	for (size_t i = 0; i < nr && !err; i++)
		err = registry__add_file(r, files[i]);
	if (err == -ENOMEM)
		log_err("no memory for the list of codecs");
	if (err)
		registry__close(r);
	else
		*out = r;
	return err;
}
