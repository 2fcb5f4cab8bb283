/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demangle.h - C++ and Rust names (legacy and v0) as people write them. Symbol names come from
 * foreign files: the length of name and result is bounded.
 */
#ifndef HBPROF_DEMANGLE_H
#define HBPROF_DEMANGLE_H

#include <stdbool.h>

/* With parameter types: "ns::f(int)"; Rust without its hash. NULL: not a mangled name, too long, or
 * no memory. free() it. */
char *demangle(const char *mangled);
/* Without parameter and return types: "ns::f". */
char *demangle_short(const char *mangled);
/* True if name may be one of C++ or Rust: it begins with _Z or _R. */
bool is_mangled(const char *name);

#endif
