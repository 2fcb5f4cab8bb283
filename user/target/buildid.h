/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buildid.h - the id that a linker has written into an image. Part of image__open(); others read
 * struct image.build_id.
 */
#ifndef HBPROF_BUILDID_H
#define HBPROF_BUILDID_H

#include "target/image.h"

/* Hex of the GNU build id, else the Go build id as text, else NULL; free() it. 0 or -ENOMEM. */
int build_id__read(const struct image *im, char **out);

#endif
