/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plt.h - the import slots of an image: the words in which the dynamic linker puts the addresses of
 * functions, the image's own exports among them. Code that calls them goes through the slots, by a
 * stub of the procedure linkage table or straight (-fno-plt). The code is left to probe/.
 */
#ifndef HBPROF_PLT_H
#define HBPROF_PLT_H

#include "target/image.h"

struct plt_slot {
	u64 vaddr;
	const char *name; /* in the image, without a version; never empty */
};

/*
 * cb for every slot that has a symbol's name, by the relocations JUMP_SLOT and GLOB_DAT; variables
 * are among them, and one word may come twice. A cb return other than 0 stops and is returned. 0 also
 * where there are none: -EBADMSG only if the dynamic section lies outside the file.
 */
int plt__slots(const struct image *im, int (*cb)(void *arg, const struct plt_slot *slot),
	       void *arg);

#endif
