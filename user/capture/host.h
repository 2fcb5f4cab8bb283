/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host.h - what the reader of a report must know of the machine: CPU, topology, frequency, kernel,
 * clock, virtualization, memory. Values are text; what cannot be told is "n/a (reason)".
 */
#ifndef HBPROF_HOST_H
#define HBPROF_HOST_H

#include "model/model.h"

/* Fills h, which must be empty, from root + "/proc" and root + "/sys"; root is "" but in tests. 0 or
 * -ENOMEM; h then holds what was found so far and belongs to the caller in any case. */
int host__read(const char *root, struct m_host *h);

#endif
