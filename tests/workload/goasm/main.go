// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goasm calls a function in assembly that uses the goroutine's register for a count of its own,
// and functions that the compiler inlines.
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

// twice is inlined where it is called by its name.
func twice(v int) int {
	return 2 * v
}

// once has no other callers than those it is inlined in.
func once(v int) int {
	return v + step
}

var (
	step         = 1
	twicePointer = twice
)

func main() {
	opt := truth.Parse([]string{"sum", "inline"})
	set := truth.NewSet(opt)
	name := "main.Sum"
	if opt.Mode == "inline" {
		name = "main.twice"
	}
	fn := set.Func("probe", "call", name)
	data := []byte("some bytes that are added up by assembly")
	var all uint64

	set.Start()
	for i := range opt.N {
		fn.Enter()
		v := 0
		if opt.Mode == "inline" {
			v = twice(once(twicePointer(i)))
		} else {
			v = total(data)
		}
		if v > 1<<20 {
			truth.Fatalf("a sum of %d", v)
		}
		fn.Count(0, false)
		all += uint64(v)
	}
	set.AddChecksum(all)
	set.Finish()
}
