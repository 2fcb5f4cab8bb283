// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goasm calls a function in assembly that uses the goroutine's register for a count of its own.
package main

import (
	truth "hbprof/workload/lib"
)

func Sum(p *byte, n int) int

// total has nothing behind the call but its return.
//
//go:noinline
func total(data []byte) int {
	return Sum(&data[0], len(data))
}

func main() {
	opt := truth.Parse([]string{"sum"})
	set := truth.NewSet(opt)
	sum := set.Func("probe", "call", "main.Sum")
	data := []byte("some bytes that are added up by assembly")
	var all uint64

	set.Start()
	for range opt.N {
		sum.Enter()
		v := total(data)
		if v > 1<<20 {
			truth.Fatalf("a sum of %d", v)
		}
		sum.Count(0, false)
		all += uint64(v)
	}
	set.AddChecksum(all)
	set.Finish()
}
