// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"encoding/json"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	truth "hbprof/workload/lib"
)

// A mode that counts the instructions of its calls itself, on machines that can count.

// eventAttr is the first version of struct perf_event_attr: include/uapi/linux/perf_event.h.
type eventAttr struct {
	kind, size             uint32
	config                 uint64
	period, sample, format uint64
	flags                  uint64
	wakeup, bpType         uint32
	bpAddr                 uint64
}

const (
	eventInstructions = 1      // PERF_COUNT_HW_INSTRUCTIONS of PERF_TYPE_HARDWARE, which is 0
	excludeKernel     = 1 << 5 // bits of flags
	excludeHv         = 1 << 6
)

// event counts on one thread, in user mode, whatever CPU that runs on.
type event struct {
	fd   uintptr
	open bool
}

func openInstructions() event {
	attr := eventAttr{config: eventInstructions, flags: excludeKernel | excludeHv}
	attr.size = uint32(unsafe.Sizeof(attr))
	fd, _, err := syscall.RawSyscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)),
		0, ^uintptr(0), ^uintptr(0), 0, 0)
	return event{fd, err == 0}
}

// read makes the system call and nothing around it: the scheduler need not know. Without a counter it does
// nothing.
func (e *event) read(v *uint64) {
	if !e.open {
		return
	}
	n, _, _ := syscall.RawSyscall(syscall.SYS_READ, e.fd, uintptr(unsafe.Pointer(v)), 8)
	if n != 8 {
		truth.Fatalf("the counter cannot be read")
	}
}

// marshaler is json.Marshal, or something to compare it with.
type marshaler func(v any) ([]byte, error)

//go:noinline
func marshalNothing(any) ([]byte, error) { return nil, nil }

// cost is what a call of a function that does nothing counts, the median: the readings, and what it takes
// to call.
func (e *event) cost() uint64 {
	d := make([]uint64, 1001)
	for i := range d {
		_, d[i] = e.count(marshalNothing, i)
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// count makes one call between two readings. Not inlined, as marshal is not.
//
//go:noinline
func (e *event) count(f marshaler, v any) ([]byte, uint64) {
	var before, after uint64

	e.read(&before)
	b, err := f(v)
	e.read(&after)
	if err != nil {
		truth.Fatalf("a call failed: %v", err)
	}
	return b, after - before
}

// switches is how often this thread has left its CPU.
func switches() int64 {
	var u syscall.Rusage

	if err := syscall.Getrusage(1 /* RUSAGE_THREAD */, &u); err != nil {
		truth.Fatalf("getrusage: %v", err)
	}
	return u.Nvcsw + u.Nivcsw
}

// sums are the instructions of some calls.
type sums struct {
	calls, sum uint64
}

func (s *sums) add(n uint64) {
	s.calls++
	s.sum += n
}

// runCounted keeps its goroutine on one thread, as the counter is that thread's. INSTRUCTIONS tells how many
// its calls took, less what reading them took, and the same of those calls in which the thread did
// not leave its CPU; without a counter there is no such line.
func runCounted(r *run) {
	var all, stayed sums
	var hash uint64

	r.addMarshal()
	runtime.LockOSThread()
	e := openInstructions()
	cost := e.cost()
	p := truth.NewPacer(r.Opt.Rate, 1)
	r.Start()
	for range r.Opt.N {
		p.Wait()
		fnMarshal.Enter()
		before := switches()
		b, n := e.count(json.Marshal, r.doc.Value)
		left := switches() != before
		fnMarshal.Count(len(b), false)
		checkText(r.doc, b)
		hash += truth.Hash(b)
		n -= min(n, cost)
		all.add(n)
		if !left {
			stayed.add(n)
		}
	}
	r.AddChecksum(hash)
	if e.open {
		r.Notef("INSTRUCTIONS encoding/json.Marshal sum=%d stayed=%d stayed_sum=%d reading=%d", all.sum,
			stayed.calls, stayed.sum, cost)
	}
}
