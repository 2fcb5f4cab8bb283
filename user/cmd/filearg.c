// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* filearg.c - see filearg.h. */
#include "cmd/filearg.h"

#include <argp.h>

char *file_arg(struct argp_state *state, const char *option, char *arg)
{
	if (!*arg)
		argp_error(state, "%s%s'' names no file", option ? option : "", option ? " " : "");
	return arg;
}
