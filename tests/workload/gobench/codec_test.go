// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Package gobench has encoding/json's calls in Go benchmarks: with b.N, with b.Loop, and in parallel. A
// test binary is a program like others (go test -c), and what it calls can be counted. TestMain speaks
// the protocol of the workloads, but for the times, which are go test's to print.
//
//	go test -c -o gobench.test ./gobench && ./gobench.test -test.bench . -test.benchtime 500x
package gobench

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	truth "hbprof/workload/lib"
)

var (
	nowait = flag.Bool("nowait", false, "do not wait for stdin at start and end")
	size   = flag.String("size", "heartbeat", "document")

	encoded, decoded atomic.Uint64
	doc              *truth.Doc
)

func marshal(b *testing.B) {
	text, err := json.Marshal(doc.Value)
	encoded.Add(1)
	if err != nil || len(text) != len(doc.Text) {
		b.Errorf("%d bytes, %v", len(text), err)
	}
}

func unmarshal(b *testing.B) {
	err := json.Unmarshal(doc.Text, doc.Fresh())
	decoded.Add(1)
	if err != nil {
		b.Error(err)
	}
}

func BenchmarkMarshalN(b *testing.B) {
	for range b.N {
		marshal(b)
	}
}

func BenchmarkUnmarshalN(b *testing.B) {
	for range b.N {
		unmarshal(b)
	}
}

func BenchmarkMarshalParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			marshal(b)
		}
	})
}

func BenchmarkUnmarshalParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			unmarshal(b)
		}
	})
}

func wait(in *bufio.Reader) {
	if !*nowait {
		_, _ = in.ReadString('\n')
	}
}

func print(op, function string, n, bytes uint64) {
	fmt.Printf("TRUTH encoding/json %s %s calls=%d entries=%d errors=0 size_sum=%d size_max=%d abandoned=0\n",
		op, function, n, n, n*bytes, bytes)
}

func TestMain(m *testing.M) {
	flag.Parse()
	doc = truth.NewDoc(*size)
	in, bytes := bufio.NewReader(os.Stdin), uint64(len(doc.Text))
	fmt.Printf("PID %d\nREADY\n", os.Getpid())
	wait(in)
	status := m.Run()
	print("encode", "encoding/json.Marshal", encoded.Load(), bytes)
	print("decode", "encoding/json.Unmarshal", decoded.Load(), bytes)
	fmt.Printf("CHECKSUM %d\nDONE\n", encoded.Load()+decoded.Load())
	wait(in)
	os.Exit(status)
}
