// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync/atomic"

	truth "hbprof/workload/lib"
)

// Every way in which Go comes to a function, each in a function of its own. The CALLER lines name
// the function that the return address lies in, which for some ways is one that the compiler (1.26)
// made. Nothing is timed, as most ways have code of the runtime between caller and callee.

type marshalFunc func(any) ([]byte, error)

// encodeIface has two implementations, so that a call through it stays one.
type encodeIface interface {
	Encode(v any) error
}

type deafEncoder struct{}

func (deafEncoder) Encode(any) error { return nil }

// promoted has its Encode from the embedded pointer: the wrapper for *promoted is a tail call, a jmp.
type promoted struct {
	*json.Encoder
}

// Variables of the package, set at run time: the compiler cannot know the callee.
var (
	marshalValue marshalFunc
	encoders     [2]encodeIface
	encodeMethod func(any) error
	bareCalls    atomic.Int64
)

//go:noinline
func callDirect(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return b, err
}

//go:noinline
func callFuncValue(v any) ([]byte, error) {
	return marshalValue(v)
}

//go:noinline
func callReflect(v any) ([]byte, error) {
	out := reflect.ValueOf(marshalValue).Call([]reflect.Value{reflect.ValueOf(v)})
	err, _ := out[1].Interface().(error)
	return out[0].Bytes(), err
}

//go:noinline
func callInterface(v any) error {
	return encoders[0].Encode(v)
}

//go:noinline
func callPromoted(v any) error {
	return encoders[1].Encode(v)
}

//go:noinline
func callMethodValue(v any) error {
	return encodeMethod(v)
}

//go:noinline
func callDefer(v any) {
	defer json.Marshal(v) // open-coded: called at the end of this function
}

//go:noinline
func callDeferLoop(v any, n int) {
	for range n {
		defer json.Marshal(v) // in a list: called by the runtime's deferreturn
	}
}

//go:noinline
func callGeneric[T any](v T) ([]byte, error) {
	b, err := json.Marshal(v)
	return b, err
}

//go:noinline
func callTail(v any) ([]byte, error) {
	return json.Marshal(v)
}

// Bare has neither arguments nor results: a go statement starts it without a wrapper, and it returns
// into runtime.goexit.
//
//go:noinline
func Bare() {
	bareCalls.Add(int64(leaf(0)))
}

// way is one way to make a call. It returns how many calls it made.
type way struct {
	name, caller string
	f            *truth.Func
	call         func(w *worker, i int)
}

func (w *worker) result(b []byte, err error) {
	fnMarshal.Count(len(b), err != nil)
	w.sum += truth.Hash(b)
}

func runCallers(r *run) {
	var out bytes.Buffer

	r.addMarshal()
	r.addEncode()
	bare := r.Func("probe", "call", "main.Bare")
	enc := json.NewEncoder(&out)
	marshalValue = json.Marshal
	encodeMethod = enc.Encode
	encoders = [2]encodeIface{enc, &promoted{enc}}
	if r.Opt.N < 0 { // not known to the compiler: the callees are not the only ones
		encoders[0], encodeMethod = deafEncoder{}, deafEncoder{}.Encode
	}
	v, size := r.doc.Value, len(r.doc.Text)
	encoded := func(w *worker, err error) {
		fnEncode.Count(out.Len(), err != nil)
		w.sum += truth.Hash(out.Bytes())
		out.Reset()
	}

	ways := []way{
		{"direct", "main.callDirect", fnMarshal, func(w *worker, _ int) { w.result(callDirect(v)) }},
		{"funcvalue", "main.callFuncValue", fnMarshal, func(w *worker, _ int) { w.result(callFuncValue(v)) }},
		{"reflect", "runtime.call16", fnMarshal, func(w *worker, _ int) { w.result(callReflect(v)) }},
		{"tail", "main.callTail", fnMarshal, func(w *worker, _ int) { w.result(callTail(v)) }},
		{"generic", "main.callGeneric[...]", fnMarshal, func(w *worker, i int) {
			if i%2 == 0 {
				w.result(callGeneric(*new(truth.Tiny)))
			} else {
				w.result(callGeneric("text"))
			}
		}},
		{"defer", "main.callDefer.deferwrap1", fnMarshal, func(_ *worker, _ int) {
			callDefer(v)
			fnMarshal.Count(size, false)
		}},
		{"interface", "main.callInterface", fnEncode, func(w *worker, _ int) { encoded(w, callInterface(v)) }},
		{"promoted", "main.callPromoted", fnEncode, func(w *worker, _ int) { encoded(w, callPromoted(v)) }},
		{"methodvalue", "encoding/json.(*Encoder).Encode-fm", fnEncode, func(w *worker, _ int) { encoded(w, callMethodValue(v)) }},
	}
	r.Start()
	w := &worker{run: r}
	for _, y := range ways {
		for i := range r.Opt.N {
			y.f.Enter()
			y.call(w, i)
		}
		r.Notef("CALLER %s %s calls=%d", y.name, y.caller, r.Opt.N)
	}
	r.callersWithoutResult(w, v, size, bare)
	r.AddChecksum(w.sum)
}

// callersWithoutResult has the ways that make many calls at a time.
func (r *run) callersWithoutResult(w *worker, v any, size int, bare *truth.Func) {
	n := r.Opt.N

	for range n {
		fnMarshal.Enter()
	}
	callDeferLoop(v, n)
	for range n {
		fnMarshal.Count(size, false)
	}
	r.Notef("CALLER deferloop main.callDeferLoop.deferwrap1 calls=%d", n)

	goMarshal(n)
	for range n {
		fnMarshal.Count(1, false)
	}
	r.Notef("CALLER go main.goMarshal.gowrap1 calls=%d", n)

	for range n {
		bare.Enter()
		go Bare()
	}
	for bareCalls.Load() < int64(n) {
		waitGoroutines(2)
	}
	for range n {
		bare.Count(0, false)
	}
	r.Notef("CALLER gobare runtime.goexit calls=%d", n)
}
