/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* version.h - the release, in one place. */
#ifndef HBPROF_VERSION_H
#define HBPROF_VERSION_H

#define HBPROF_VERSION "0.1.0"

#endif
