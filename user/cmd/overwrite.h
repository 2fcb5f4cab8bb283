/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* overwrite.h - keeps a command from writing its output over what it reads. */
#ifndef HBPROF_OVERWRITE_H
#define HBPROF_OVERWRITE_H

#include <stdbool.h>
#include <stddef.h>

/* True, with a message, if output is one of the input files under any name. NULL and "-" are no file. */
bool overwrites_input(const char *output, const char *const *input, size_t nr);

#endif
