// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build cgo && withc

package main

// int gobin_add(int a, int b);
// int gobin_add(int a, int b) { return a + b; }
import "C"

func init() { println(C.gobin_add(1, 2)) }
