// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command bigbin is a Go program of the size of a real service: all codecs that it links are called
// once, so that the linker keeps them, and json.Marshal in a loop is what a profiler measures. It
// speaks as much of the workloads' protocol (tests/workload/README.md) as a benchmark needs, but for
// this: its calls begin with READY, and a line on stdin, or its end, ends them and the program.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

// heartbeat is a small message, as a service sends many of.
type heartbeat struct {
	ID    uint64            `json:"id"`
	Name  string            `json:"name"`
	Load  []float64         `json:"load"`
	Label map[string]string `json:"label"`
}

func message() *heartbeat {
	return &heartbeat{
		ID:    42,
		Name:  "sensor",
		Load:  []float64{0.5, 1.25, 2},
		Label: map[string]string{"zone": "a"},
	}
}

func main() {
	every := flag.Duration("every", time.Millisecond, "time from one call to the next")
	flag.Parse()
	if err := useAll(message()); err != nil {
		fmt.Fprintln(os.Stderr, "bigbin:", err)
		os.Exit(1)
	}
	stop := make(chan struct{})
	go func() {
		// A line, or the end of stdin.
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(stop)
	}()
	fmt.Printf("PID %d\nREADY\n", os.Getpid())
	tick := time.NewTicker(*every)
	m := message()
	for calls := 0; ; calls++ {
		select {
		case <-stop:
			fmt.Printf("CALLS %d\nDONE\n", calls)
			return
		case <-tick.C:
			if _, err := json.Marshal(m); err != nil {
				os.Exit(1)
			}
		}
	}
}
