/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* shapes.h - the probed functions of shapes.c. */
#ifndef SHAPES_H
#define SHAPES_H

unsigned int small(unsigned int v);
unsigned int filled(unsigned int v);
unsigned int whole(unsigned int v);
unsigned int whole_copy(unsigned int v) __asm__("whole.constprop.0");
unsigned int half(unsigned int v);
unsigned int half_rest(unsigned int v) __asm__("half.part.0");
unsigned int named(unsigned int v);
unsigned int named_again(unsigned int v);
unsigned int unused(unsigned int v);

#endif
