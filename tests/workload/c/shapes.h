/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* shapes.h - the probed functions of shapes.c. */
#ifndef SHAPES_H
#define SHAPES_H

unsigned int small(unsigned int v);
unsigned int filled(unsigned int v);

#endif
