/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * codectab.h - the built-in table of codec functions.
 */
#ifndef HBPROF_CODECTAB_H
#define HBPROF_CODECTAB_H

#include "sym/registry.h"

/* The number of entries; those of one library follow each other. */
size_t codectab_size(void);
/* Entry i < codectab_size() for the registers of a machine. 0, or -ENOTSUP: not known. */
int codectab_entry(size_t i, u16 e_machine, struct codec_entry *out);

#endif
