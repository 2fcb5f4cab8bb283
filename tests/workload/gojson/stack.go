// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"encoding/json"
	"runtime"

	truth "hbprof/workload/lib"
)

// Modes that are hard on whoever keeps frames by their place on the stack.

// descend calls f with depth more frames of some 48 bytes below it.
//
//go:noinline
func descend(depth int, f func()) int {
	if depth == 0 {
		f()
		return 0
	}
	return descend(depth-1, f) + 1
}

// runGrow makes each call in a new goroutine, whose stack is 2 KB, from depths 48 bytes apart. Some
// of them leave too little room for Marshal's frame but enough for its caller's: then Marshal is
// entered, grows the stack, and is entered again.
func runGrow(r *run) {
	r.addMarshal()
	r.Start()
	r.workers(func(w *worker, i int) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			descend(i%40, func() { w.marshal(r.doc.Value) })
		}()
		<-done
	})
}

const recursionEntries = 40

// nest encodes as a nest of Marshal calls, n of them counting the one that it is given to.
type nest struct {
	n    int
	last any // what the innermost call meets: nil, or a value that panics
}

func (v nest) MarshalJSON() ([]byte, error) {
	if v.n <= 1 {
		if v.last == nil {
			return []byte("1"), nil
		}
		fnMarshal.Enter()
		return json.Marshal(v.last)
	}
	fnMarshal.Enter()
	b, err := json.Marshal(nest{v.n - 1, v.last})
	return append(append([]byte{'['}, b...), ']'), err
}

func runRecursion(r *run) {
	r.addMarshal()
	r.Start()
	r.workers(func(w *worker, _ int) {
		if b := w.marshal(nest{n: recursionEntries}); len(b) != 2*recursionEntries-1 {
			truth.Fatalf("a nest of %d gave %d bytes", recursionEntries, len(b))
		}
	})
}

// bomb panics with something that encoding/json does not know and so panics with again.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) {
	panic("bomb")
}

// blowUp makes a call that is left by a panic, recovered here.
func (w *worker) blowUp(v any) {
	w.attempt(v, true)
}

// never is false, which the compiler does not know.
var never bool

//go:noinline
func sumWords(w [48]uint64) (s uint64) {
	for _, v := range w {
		s += v
	}
	return s
}

// marshalFar makes one timed call from below a frame of 768 bytes that nothing is written to. So far
// down, the return address survives what the runtime does to recover from a panic.
//
//go:noinline
func (w *worker) marshalFar(words *[48]uint64, v any) {
	if never {
		w.sum += sumWords(*words)
	}
	fnMarshal.Enter()
	t0 := truth.Now()
	b, err := json.Marshal(v)
	t1 := truth.Now()
	fnMarshal.Return(t1-t0, len(b), err != nil)
}

// attempt makes a call that panics or returns: from one place, and at one depth.
//
//go:noinline
func (w *worker) attempt(v any, panics bool) {
	var words [48]uint64

	defer func() {
		if (recover() != nil) != panics {
			truth.Fatalf("Marshal was to panic: %t", panics)
		}
		if panics {
			fnMarshal.Abandon()
		}
		w.sum++
	}()
	w.marshalFar(&words, v)
}

func runPanic(r *run) {
	r.addMarshal()
	r.Start()
	r.workers(func(w *worker, _ int) { w.blowUp([]any{1, bomb{}}) })
}

// deeper runs f below frames whose zeroed arrays wipe what stood there.
//
//go:noinline
func deeper(frames int, f func()) byte {
	var wipe [200]byte

	if frames == 0 {
		f()
		return 0
	}
	wipe[frames%len(wipe)] = 1
	return deeper(frames-1, f) + wipe[(frames+1)%len(wipe)]
}

//go:noinline
func sumManyWords(w [192]uint64) (s uint64) {
	for _, v := range w {
		s += v
	}
	return s
}

// overStale runs f below a frame of 3 KB that writes nothing: room for the arguments of a call that
// is never made. What calls before it left there still stands, the return address of one that
// panicked too.
//
//go:noinline
func overStale(words *[192]uint64, f func()) uint64 {
	if never {
		return sumManyWords(*words)
	}
	f()
	return 0
}

// runPanicMix follows each panic by calls of the same goroutine: deeper than the frame that the
// panic left behind, with that frame's stack wiped and not wiped, and at its very place.
func runPanicMix(r *run) {
	r.addMarshal()
	r.Start()
	never = r.Opt.N < 0
	var words [192]uint64
	r.workers(func(w *worker, i int) {
		good := func() { checkText(r.doc, w.marshal(r.doc.Value)) }
		nested := func() { w.marshal(nest{n: 3}) }

		w.blowUp([]any{1, bomb{}})
		w.sum += overStale(&words, good)
		w.blowUp(nest{n: 2, last: bomb{}})
		w.sum += overStale(&words, nested)
		w.blowUp(bomb{})
		w.sum += uint64(deeper(9+i%9, good))
		w.blowUp([]any{bomb{}})
		w.sum += uint64(deeper(9+i%5, nested))
		w.blowUp(nest{n: 3, last: bomb{}})
		w.attempt(r.doc.Value, false)
		good()
		nested()
	})
}

// leaver ends its goroutine.
type leaver struct{}

func (leaver) MarshalJSON() ([]byte, error) {
	runtime.Goexit()
	return nil, nil
}

// runGoexit lets every second goroutine end inside Marshal. Their g structs are used again by the
// next ones, whose calls return.
func runGoexit(r *run) {
	r.addMarshal()
	r.Start()
	r.workers(func(w *worker, i int) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if i%2 == 1 {
				deeper(i%7, func() { w.marshal(r.doc.Value) })
				return
			}
			defer fnMarshal.Abandon()
			fnMarshal.Enter()
			b, _ := json.Marshal([]any{leaver{}})
			truth.Fatalf("Marshal returned %d bytes instead of ending the goroutine", len(b))
		}()
		<-done
		w.sum++
	})
}
