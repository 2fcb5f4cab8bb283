/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* assets.h - view.css and view.js as they stand, for svg.c to put into each picture. */
#ifndef HBPROF_ASSETS_H
#define HBPROF_ASSETS_H

extern const char flame_css[], flame_css_end[];
extern const char flame_js[], flame_js_end[];

#endif
