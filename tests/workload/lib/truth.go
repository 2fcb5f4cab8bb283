// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Package truth is what the Go workloads share: flags, the start and end of the text protocol, exact
// call counts, and a latency histogram kept inside the process. README.md in the folder above
// describes the protocol; truth.h is the same for C. What is called, and how often, is left to the
// workloads. Nothing here calls a codec, so that every call of the process is a call of the workload.
package truth

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// Options are the flags that all workloads understand.
type Options struct {
	Mode   string
	N, G   int
	Procs  int
	GC     bool
	Size   string
	NS     int
	Iters  int
	Own    int
	Rate   float64
	NoWait bool
}

// Parse reads the command line. A mode or size that does not exist is a usage error: exit status 2.
func Parse(modes []string) Options {
	var o Options

	flag.StringVar(&o.Mode, "mode", modes[0], "what to run: "+strings.Join(modes, ", "))
	flag.IntVar(&o.N, "n", 1000, "calls of each goroutine")
	flag.IntVar(&o.G, "g", 0, "goroutines (0: the mode's own number, 1 in most)")
	flag.IntVar(&o.Procs, "procs", 2, "GOMAXPROCS")
	flag.BoolVar(&o.GC, "gc", false, "run the garbage collector all the time")
	flag.StringVar(&o.Size, "size", "heartbeat", "document: "+strings.Join(DocNames(), ", "))
	flag.IntVar(&o.NS, "ns", 0, "length of a spin or a blocking call in ns (0: the mode's own)")
	flag.IntVar(&o.Iters, "iters", 0, "length of a spin in iterations: no calibration")
	flag.IntVar(&o.Own, "own", 0, "iterations that the outer function of spinouter spends itself")
	flag.Float64Var(&o.Rate, "rate", 0, "calls a second over all goroutines (0: flat out)")
	flag.BoolVar(&o.NoWait, "nowait", false, "do not wait for stdin at start and end")
	flag.Parse()

	switch {
	case flag.NArg() > 0:
		usage("unexpected argument %q", flag.Arg(0))
	case !slices.Contains(modes, o.Mode):
		usage("no mode %q; there are: %s", o.Mode, strings.Join(modes, ", "))
	case !slices.Contains(DocNames(), o.Size):
		usage("no size %q; there are: %s", o.Size, strings.Join(DocNames(), ", "))
	case o.N < 1 || o.G < 0 || o.Procs < 1 || o.NS < 0 || o.Iters < 0 || o.Own < 0 || o.Rate < 0:
		usage("-n and -procs must be at least 1, other numbers not negative")
	}
	return o
}

func usage(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", os.Args[0], fmt.Sprintf(format, args...))
	os.Exit(2)
}

// Fatalf ends the workload: what it found means that its own numbers cannot be trusted.
func Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", os.Args[0], fmt.Sprintf(format, args...))
	os.Exit(1)
}

// The runtime's own clock, which it keeps open to others for just this purpose. time.Since costs a
// call more, and it may grow the stack: in the mode that wants the codec itself to do that.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Now is the monotonic clock in ns.
func Now() int64 {
	return nanotime()
}

// Func counts the calls of one function that a profiler may probe.
type Func struct {
	codec, op, name string

	entries   atomic.Uint64 // every entry, nested ones included
	calls     atomic.Uint64 // outermost calls that returned
	errors    atomic.Uint64 // those of calls that failed
	abandoned atomic.Uint64 // outermost calls that never returned: panic, Goexit
	sizeSum   atomic.Uint64
	sizeMax   atomic.Uint64
	hist      Hist
	timer     int64
}

// Enter counts an entry that is about to happen.
func (f *Func) Enter() {
	f.entries.Add(1)
}

// Return counts an outermost call that came back, with what it took between two Now() around it.
func (f *Func) Return(ns int64, size int, failed bool) {
	f.Count(size, failed)
	f.hist.Add(uint64(max(ns-f.timer, 0)))
}

// Count is Return for a call that could not be timed without other work in the interval.
func (f *Func) Count(size int, failed bool) {
	f.calls.Add(1)
	if failed {
		f.errors.Add(1)
	}
	f.sizeSum.Add(uint64(size))
	raise(&f.sizeMax, uint64(size))
}

// Abandon counts an outermost call that was left by another way than its return.
func (f *Func) Abandon() {
	f.abandoned.Add(1)
}

// Set is one run: its functions and the sum over all results.
type Set struct {
	Opt      Options
	timer    int64
	mu       sync.Mutex
	funcs    []*Func
	notes    []string
	checksum atomic.Uint64
	stdin    *bufio.Reader
	stopGC   chan struct{}
	gcEnded  chan struct{}
	stops    *stops // at Start; nil: they are not told
}

// NewSet measures the timer. It is called before Start, that is before any probe is in.
func NewSet(o Options) *Set {
	runtime.GOMAXPROCS(o.Procs)
	s := &Set{Opt: o, timer: timerCost(), stdin: bufio.NewReader(os.Stdin)}
	if o.GC {
		s.CountStops()
	}
	return s
}

// timerCost is the median of empty pairs.
func timerCost() int64 {
	d := make([]int64, 10001)
	for i := range d {
		t0 := Now()
		t1 := Now()
		d[i] = t1 - t0
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// Func adds a function under the name that symbol tables have for it.
func (s *Set) Func(codec, op, name string) *Func {
	f := &Func{codec: codec, op: op, name: name, timer: s.timer}

	f.hist.min.Store(^uint64(0))
	s.mu.Lock()
	s.funcs = append(s.funcs, f)
	s.mu.Unlock()
	return f
}

// Notef adds a line of the workload's own, printed before CHECKSUM.
func (s *Set) Notef(format string, args ...any) {
	s.mu.Lock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
	s.mu.Unlock()
}

// AddChecksum adds a result. Addition, as goroutines finish in any order.
func (s *Set) AddChecksum(v uint64) {
	s.checksum.Add(v)
}

// Start says that the process is ready and waits for the word to go.
func (s *Set) Start() {
	fmt.Printf("PID %d\nREADY\n", os.Getpid())
	s.wait()
	if s.stops != nil {
		*s.stops = readStops()
	}
	if s.Opt.GC {
		s.stopGC, s.gcEnded = make(chan struct{}), make(chan struct{})
		go func() {
			defer close(s.gcEnded)
			for {
				select {
				case <-s.stopGC:
					return
				default:
					runtime.GC()
				}
			}
		}()
	}
}

// Finish prints the truth and keeps the process alive until the profiler has seen it.
func (s *Set) Finish() {
	if s.stopGC != nil {
		close(s.stopGC)
		<-s.gcEnded
	}
	if s.stops != nil {
		s.noteStops()
	}
	w := bufio.NewWriter(os.Stdout)
	for _, f := range s.funcs {
		fmt.Fprintf(w, "TRUTH %s %s %s calls=%d entries=%d errors=%d size_sum=%d size_max=%d abandoned=%d\n",
			f.codec, f.op, f.name, f.calls.Load(), f.entries.Load(), f.errors.Load(),
			f.sizeSum.Load(), f.sizeMax.Load(), f.abandoned.Load())
	}
	for _, f := range s.funcs {
		if f.hist.n.Load() > 0 {
			fmt.Fprintf(w, "LATENCY %s %s\n", f.name, f.hist.String())
		}
	}
	sort.Strings(s.notes)
	for _, n := range s.notes {
		fmt.Fprintln(w, n)
	}
	fmt.Fprintf(w, "CHECKSUM %d\nTIMER ns=%d\nDONE\n", s.checksum.Load(), s.timer)
	if err := w.Flush(); err != nil {
		Fatalf("cannot write the result: %v", err)
	}
	s.wait()
}

// Wait is for workloads that somebody else keeps busy: it returns when that has ended, which is told by a
// line on stdin.
func (s *Set) Wait() {
	s.wait()
}

// wait returns at a line or at the end of stdin.
func (s *Set) wait() {
	if !s.Opt.NoWait {
		_, _ = s.stdin.ReadString('\n')
	}
}

// Pacer spreads calls evenly over time; late ones are not left out.
type Pacer struct {
	period, next int64
}

// NewPacer takes the calls a second of all workers and the number of workers.
func NewPacer(rate float64, workers int) Pacer {
	if rate <= 0 {
		return Pacer{}
	}
	return Pacer{period: int64(1e9 * float64(workers) / rate), next: Now()}
}

// Wait returns when the next call is due.
func (p *Pacer) Wait() {
	if p.period == 0 {
		return
	}
	if d := p.next - Now(); d > 0 {
		time.Sleep(time.Duration(d))
	}
	p.next += p.period
}

// Hash is a checksum that costs little beside a codec: 8 bytes a step.
func Hash(b []byte) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := uint64(len(b)) * k

	for len(b) >= 8 {
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		h = (h ^ w) * k
		h ^= h >> 32
		b = b[8:]
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * k
	}
	return h ^ h>>29
}
