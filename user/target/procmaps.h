/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * procmaps.h - the text of /proc/PID/maps as an array. Part of proc__open(); others read struct proc.
 */
#ifndef HBPROF_PROCMAPS_H
#define HBPROF_PROCMAPS_H

#include "target/proc.h"

/* Cuts up text (which is changed) into mappings, sorted as they came. 0, -ENOMEM, -EBADMSG. */
int proc_maps__parse(char *text, struct proc_map **v, u32 *nr);
void proc_maps__free(struct proc_map *v, u32 nr); /* NULL, 0 is fine */

#endif
