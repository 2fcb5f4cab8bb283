// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build goexperiment.jsonv2

package main

// With GOEXPERIMENT=jsonv2, compilers inline the functions of encoding/json, and these are called.
const stdCodec = "encoding/json/v2"
