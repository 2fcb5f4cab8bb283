/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* layers.h - the probed functions of layers.c. */
#ifndef LAYERS_H
#define LAYERS_H

unsigned int layers_outer(const void *data, unsigned int len);
unsigned int layers_inner(const void *data, unsigned int len);
unsigned int layers_part(unsigned int v);
unsigned int rare(unsigned int v);

#endif
