// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	truth "hbprof/workload/lib"
)

// Functions of known length.

// leaf is called so that Spin is no leaf itself: then it has a frame and pushes the frame pointer.
//
//go:noinline
func leaf(x int) int {
	return x + 1
}

// Spin does n iterations, each of which needs the result of the one before.
//
//go:noinline
func Spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ s
	}
	return leaf(s)
}

// Outer calls Spin twice, and spends own iterations itself.
//
//go:noinline
func Outer(n, own int) int {
	s := Spin(n)
	for i := 0; i < own; i++ {
		s += i ^ s
	}
	s = s*3 + Spin(n)
	return leaf(s)
}

// unprobedSpin is Spin under another name: calls of the calibration are not to be counted.
//
//go:noinline
func unprobedSpin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ s
	}
	return leaf(s)
}

// spinIters is -iters, or as many iterations as take -ns here and now.
func (r *run) spinIters() int {
	const probe = 200000

	if r.Opt.Iters > 0 {
		return r.Opt.Iters
	}
	ns := r.Opt.NS
	if ns == 0 {
		ns = 1000
	}
	best := int64(1) << 62
	for range 20 {
		t0 := truth.Now()
		r.AddChecksum(uint64(unprobedSpin(probe)) & 0) // a use of the result, no more
		best = min(best, truth.Now()-t0)
	}
	return max(int(int64(ns)*probe/max(best, 1)), 1)
}

func runSpin(r *run) {
	f := r.Func("probe", "call", "main.Spin")
	iters := r.spinIters()
	r.Notef("SPIN iters=%d", iters)
	r.Start()
	r.workers(func(w *worker, i int) {
		f.Enter()
		t0 := truth.Now()
		s := Spin(iters)
		t1 := truth.Now()
		f.Return(t1-t0, 0, false)
		w.sum += uint64(s) + uint64(i)
	})
}

// runSpinOuter times Outer only: a timer inside Outer would be part of its own time. The length of
// Spin is that of mode spin with the same -iters, and what Outer spends itself is -own iterations.
func runSpinOuter(r *run) {
	outer := r.Func("probe", "call", "main.Outer")
	spin := r.Func("probe", "call", "main.Spin")
	iters := r.spinIters()
	r.Notef("SPIN iters=%d", iters)
	r.Start()
	r.workers(func(w *worker, i int) {
		outer.Enter()
		spin.Enter()
		spin.Enter()
		t0 := truth.Now()
		s := Outer(iters, r.Opt.Own)
		t1 := truth.Now()
		outer.Return(t1-t0, 0, false)
		spin.Count(0, false)
		spin.Count(0, false)
		w.sum += uint64(s) + uint64(i)
	})
}
