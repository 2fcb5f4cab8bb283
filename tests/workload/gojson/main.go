// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command gojson calls encoding/json, or functions of its own, in ways that are hard on a profiler,
// and prints how often it did so and how long that took. This file owns the modes table and the
// workers; the modes are in the other files, by what they are hard on.
package main

import (
	"flag"
	"os"
	"runtime/pprof"
	"sync"

	truth "hbprof/workload/lib"
)

// run is what the modes share.
type run struct {
	*truth.Set
	doc *truth.Doc
}

type mode struct {
	name string
	run  func(*run)
}

var modes = []mode{
	{"marshal", runMarshal},
	{"unmarshal", runUnmarshal},
	{"indent", runIndent},
	{"encoder", runEncoder},
	{"decoder", runDecoder},
	{"mixed", runMixed},
	{"decodeerr", runDecodeErr},
	{"encodeerr", runEncodeErr},
	{"spin", runSpin},
	{"spinouter", runSpinOuter},
	{"grow", runGrow},
	{"recursion", runRecursion},
	{"panic", runPanic},
	{"panicmix", runPanicMix},
	{"goexit", runGoexit},
	{"block", runBlock},
	{"goroutines", runGoroutines},
	{"callers", runCallers},
	{"counted", runCounted},
}

func main() {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	profile := flag.String("cpuprofile", "", "write runtime/pprof's CPU profile of the run to this file")
	opt := truth.Parse(names)
	r := &run{Set: truth.NewSet(opt), doc: truth.NewDoc(opt.Size)}
	for _, m := range modes {
		if m.name == opt.Mode {
			stop := startProfile(*profile)
			m.run(r)
			stop()
		}
	}
	r.Finish()
}

// startProfile begins the profile that another profiler's is compared with; nothing without a name.
func startProfile(name string) (stop func()) {
	if name == "" {
		return func() {}
	}
	f, err := os.Create(name)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		truth.Fatalf("%s: %v", name, err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			truth.Fatalf("%s: %v", name, err)
		}
	}
}

// worker is what one goroutine has for itself.
type worker struct {
	*run
	id  int
	sum uint64 // of its results
}

// workers runs step n times in each of the goroutines asked for, and returns when all are done.
func (r *run) workers(step func(w *worker, i int)) {
	r.workersOf(func() func(*worker, int) { return step })
}

// workersOf is workers for steps with a state: each goroutine gets a step of its own.
func (r *run) workersOf(newStep func() func(w *worker, i int)) {
	var wg sync.WaitGroup
	g := max(r.Opt.G, 1)

	for id := range g {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := &worker{run: r, id: id}
			p := truth.NewPacer(r.Opt.Rate, g)
			step := newStep()
			for i := range r.Opt.N {
				p.Wait()
				step(w, i)
			}
			r.AddChecksum(w.sum)
		}()
	}
	wg.Wait()
}
