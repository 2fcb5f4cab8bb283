// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command gocgo calls encoding/json from Go functions that C calls: from a thread of Go's, from
// within another call, and from a thread that C has made; and a codec in C, beside its own. With cgo the text segment begins with C
// code, so that it also tells whether a reader of the symbol table gets the addresses right.
package main

/*
#cgo CFLAGS: -O2 -g
#cgo LDFLAGS: -lpthread -lcjson
#include <stdlib.h>
void call_back(int depth);
int call_back_on_thread(int calls);
int parse_native(const char *text, int by_pointer);
*/
import "C"

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	truth "hbprof/workload/lib"
)

const nestedEntries = 4

var (
	set       *truth.Set
	doc       *truth.Doc
	fnMarshal *truth.Func
	sum       atomic.Uint64
)

// inC encodes by way of C and of another Marshal.
type inC struct {
	depth int
}

func (v inC) MarshalJSON() ([]byte, error) {
	if v.depth > 1 {
		C.call_back(C.int(v.depth - 1))
	}
	return []byte("1"), nil
}

// hbWorkloadCallback is what C calls: depth 0 is an outermost call, others are inside of one.
//
//export hbWorkloadCallback
func hbWorkloadCallback(depth C.int) {
	if depth == 0 {
		marshal(doc.Value)
		return
	}
	fnMarshal.Enter()
	if b, err := json.Marshal(inC{int(depth)}); err != nil || len(b) != 1 {
		truth.Fatalf("a nested Marshal gave %d bytes: %v", len(b), err)
	}
}

//go:noinline
func marshal(v any) {
	fnMarshal.Enter()
	t0 := truth.Now()
	b, err := json.Marshal(v)
	t1 := truth.Now()
	fnMarshal.Return(t1-t0, len(b), err != nil)
	sum.Add(truth.Hash(b))
}

// cjson are cJSON_Parse, which is called, and those that it calls.
var cjson []*truth.Func

func addNative() {
	for _, name := range []string{"cJSON_Parse", "cJSON_ParseWithOpts", "cJSON_ParseWithLengthOpts"} {
		cjson = append(cjson, set.Func("cJSON", "decode", name))
	}
}

// decode is by cJSON.
func decode(byPointer C.int) func() {
	const json = `{"a":12345,"b":[true,null]}`
	text := C.CString(json) // for as long as the program runs

	return func() {
		for _, f := range cjson {
			f.Enter()
		}
		t0 := truth.Now()
		parsed := C.parse_native(text, byPointer)
		t1 := truth.Now()
		if parsed == 0 {
			truth.Fatalf("cJSON_Parse failed")
		}
		cjson[0].Return(t1-t0, len(json), false)
	}
}

// native decodes by cJSON and encodes by Go.
func native(n int, byPointer C.int) {
	parse := decode(byPointer)

	workers(n, func() {
		parse()
		marshal(doc.Value)
	})
}

// workers calls step n times in each of -g goroutines.
func workers(n int, step func()) {
	var wg sync.WaitGroup
	g := max(set.Opt.G, 1)

	for range g {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := truth.NewPacer(set.Opt.Rate, g)
			for range n {
				p.Wait()
				step()
			}
		}()
	}
	wg.Wait()
}

func main() {
	opt := truth.Parse([]string{"callback", "nested", "thread", "native", "pointer", "serve"})

	set = truth.NewSet(opt)
	doc = truth.NewDoc(opt.Size)
	fnMarshal = set.Func("encoding/json", "encode", "encoding/json.Marshal")
	if opt.Mode == "native" || opt.Mode == "pointer" || opt.Mode == "serve" {
		addNative()
	}
	set.Start()
	switch opt.Mode {
	case "callback":
		workers(opt.N, func() { C.call_back(0) })
	case "nested":
		workers(opt.N, func() { marshal(inC{nestedEntries}) })
	case "thread":
		workers(1, func() {
			if C.call_back_on_thread(C.int(opt.N)) != 0 {
				truth.Fatalf("cannot start a thread in C")
			}
		})
	case "native":
		native(opt.N, 0)
	case "pointer":
		native(opt.N, 1)
	case "serve":
		serve(opt.N, decode(0))
	}
	set.AddChecksum(sum.Load())
	set.Finish()
}
