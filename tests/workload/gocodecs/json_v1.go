// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build !goexperiment.jsonv2

package main

// What json.Marshal and json.Unmarshal are.
const stdCodec = "encoding/json"
