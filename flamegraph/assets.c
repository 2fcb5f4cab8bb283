// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * assets.c - files that the assembler copies into read-only data, so that they stay files which an
 * editor and a linter know. Paths are from the top of the tree: make compiles there.
 */
#include "flamegraph/assets.h"

#define EMBED(symbol, path)                                            \
	__asm__(".pushsection .rodata\n"                               \
		".global " #symbol ", " #symbol "_end\n" #symbol ":\n" \
		".incbin \"" path "\"\n" #symbol "_end:\n"             \
		".byte 0\n"                                            \
		".popsection\n")

EMBED(flame_css, "flamegraph/view.css");
EMBED(flame_js, "flamegraph/view.js");
