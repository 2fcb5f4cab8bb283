// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build go1.24

package gobench

import "testing"

func BenchmarkMarshalLoop(b *testing.B) {
	for b.Loop() {
		marshal(b)
	}
}

func BenchmarkUnmarshalLoop(b *testing.B) {
	for b.Loop() {
		unmarshal(b)
	}
}
