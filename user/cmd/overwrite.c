// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* overwrite.c - see overwrite.h. */
#include "cmd/overwrite.h"

#include <string.h>
#include <sys/stat.h>

#include "util/log.h"

static bool find_file(const char *path, struct stat *st)
{
	return path && strcmp(path, "-") && !stat(path, st);
}

bool overwrites_input(const char *output, const char *const *input, size_t nr)
{
	struct stat out, in;

	if (!find_file(output, &out))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!find_file(input[i], &in) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
			continue;
		log_err("the output %s is the input; name another file with -o", output);
		return true;
	}
	return false;
}
