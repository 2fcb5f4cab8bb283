// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	truth "hbprof/workload/lib"
)

// The codecs of this program as Go benchmarks, in a test binary that says what it called: TestMain speaks
// the protocol of the workloads, but for the times, which are go test's to print.
//
//	go test -c -o gocodecs.test . && ./gocodecs.test -test.bench . -test.benchtime 100x

var (
	set       *truth.Set
	functions = map[string]*truth.Func{}
)

// function is one for all documents.
func function(codec, op, name string) *truth.Func {
	if functions[name] == nil {
		functions[name] = set.Func(codec, op, name)
	}
	return functions[name]
}

// newJob makes one that counts in the functions of all benchmarks.
func newJob(a *api, op, doc string) *job {
	d := truth.NewDoc(doc)
	j := &job{set: set, doc: d, api: a, value: d.Value, fresh: d.Fresh}
	list := a.enc
	if op == "decode" {
		list = a.dec
	}
	for _, in := range list {
		if n := in.entries(doc); n > 0 {
			name := strings.ReplaceAll(in.name, "{T}", typeName(doc))
			j.funcs = append(j.funcs, function(a.codec, op, name))
			j.entries = append(j.entries, n)
		}
	}
	j.prepare()
	return j
}

func (j *job) benchEncode(b *testing.B) {
	for range b.N {
		j.enter()
		text, err := j.api.encode(j.value)
		j.funcs[0].Count(len(text), err != nil)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (j *job) benchDecode(b *testing.B) {
	for range b.N {
		v := j.fresh()
		j.enter()
		err := j.api.decode(j.text, v)
		j.funcs[0].Count(len(j.text), err != nil)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// benchmark is one codec's operation with one document.
type benchmark struct {
	*job
	op string
}

// benchmarks are all there are, made before READY: making one calls its codec.
var benchmarks []benchmark

func BenchmarkEncode(b *testing.B) {
	for _, j := range benchmarks {
		if j.op == "encode" {
			b.Run(j.api.mode+"/"+j.doc.Name, j.benchEncode)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, j := range benchmarks {
		if j.op == "decode" {
			b.Run(j.api.mode+"/"+j.doc.Name, j.benchDecode)
		}
	}
}

func TestMain(m *testing.M) {
	set = truth.NewSet(truth.Parse([]string{"bench"}))
	for _, a := range apis {
		for _, doc := range []string{"heartbeat", "order", "device"} {
			for _, op := range a.operations() {
				if !strings.HasSuffix(op, "err") {
					benchmarks = append(benchmarks, benchmark{newJob(a, op, doc), op})
				}
			}
		}
	}
	set.Start()
	status := m.Run()
	fmt.Println()
	set.Finish()
	os.Exit(status)
}
