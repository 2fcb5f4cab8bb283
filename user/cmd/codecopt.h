/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* codecopt.h - the option --codecs FILE, which several commands have. */
#ifndef HBPROF_CODECOPT_H
#define HBPROF_CODECOPT_H

#include <stddef.h>

#include "sym/registry.h"

#define CODECS_HELP                                                                              \
	"Know the codecs in FILE as well; an entry of a known library and symbol replaces that " \
	"one (may be repeated)"

/* The built-in registry and the files, in this order. 0 or -errno, with a message logged. */
int codecopt__open(const char *const *files, size_t nr, bool groups, struct registry **out);

#endif
