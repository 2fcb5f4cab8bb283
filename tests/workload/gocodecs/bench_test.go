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

var set *truth.Set

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
	all := shared{set: set}
	for _, a := range apis {
		for _, doc := range []string{"heartbeat", "order", "device"} {
			for _, op := range a.operations() {
				if !strings.HasSuffix(op, "err") {
					benchmarks = append(benchmarks, benchmark{all.newJob(a, op, doc), op})
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
