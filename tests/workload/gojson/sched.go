// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	truth "hbprof/workload/lib"
)

// Modes in which calls stop in the middle, and go on elsewhere.

// blocker waits when it is encoded: for a channel, or for a time.
type blocker struct {
	wake    <-chan struct{}
	d       time.Duration
	entered *atomic.Int64 // may be nil
}

func (b blocker) MarshalJSON() ([]byte, error) {
	if b.entered != nil {
		b.entered.Add(1)
	}
	if b.wake != nil {
		<-b.wake
	} else {
		time.Sleep(b.d)
	}
	return []byte("1"), nil
}

// runBlock sleeps and waits for other goroutines inside of calls. MIGRATED tells on how many calls
// the thread was another one afterwards; a migration between the look and the call is counted too.
func runBlock(r *run) {
	var migrated atomic.Uint64

	r.addMarshal()
	d := time.Duration(r.Opt.NS)
	if d == 0 {
		d = 100 * time.Microsecond
	}
	r.Start()
	r.workers(func(w *worker, i int) {
		v := blocker{d: d}
		if i%2 == 1 {
			c := make(chan struct{})
			v.wake = c
			go func() {
				runtime.Gosched()
				close(c)
			}()
		}
		tid := syscall.Gettid()
		w.marshal(v)
		if syscall.Gettid() != tid {
			migrated.Add(1)
		}
	})
	r.Notef("MIGRATED encoding/json.Marshal calls=%d", migrated.Load())
}

// runGoroutines has all goroutines (10,000) alive at once, and every fourth of them inside a call at
// the same time: the blocked calls end when the last of them has begun.
func runGoroutines(r *run) {
	const oneIn = 4

	r.addMarshal()
	if r.Opt.G == 0 {
		r.Opt.G = 10000
	}
	blocked := (r.Opt.G + oneIn - 1) / oneIn
	var inside, arrived atomic.Int64
	wake := make(chan struct{})
	r.Start()

	var wg sync.WaitGroup
	for id := range r.Opt.G {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := &worker{run: r, id: id}
			if id%oneIn == 0 {
				w.marshal(blocker{wake: wake, entered: &inside})
			} else {
				w.marshal(r.doc.Value)
				arrived.Add(1)
				<-wake
			}
			for range r.Opt.N - 1 {
				w.marshal(r.doc.Value)
			}
			r.AddChecksum(w.sum)
		}()
	}
	for int(inside.Load()) < blocked || int(arrived.Load()) < r.Opt.G-blocked {
		time.Sleep(time.Millisecond)
	}
	r.Notef("BLOCKED encoding/json.Marshal calls=%d", blocked)
	close(wake)
	wg.Wait()
}

// started tells that a call made by a go statement has begun.
type started struct {
	n *atomic.Int64
}

func (s started) MarshalJSON() ([]byte, error) {
	s.n.Add(1)
	return []byte("1"), nil
}

// goMarshal makes calls with nothing of ours between the start of a goroutine and the call. Nobody
// sees such a call return, but that its goroutine is gone can be seen.
func goMarshal(n int) {
	var begun atomic.Int64
	before := runtime.NumGoroutine()

	for i := range n {
		fnMarshal.Enter()
		go json.Marshal(started{&begun})
		if i%64 == 63 {
			waitGoroutines(before)
		}
	}
	waitGoroutines(before)
	if begun.Load() != int64(n) {
		truth.Fatalf("%d of %d calls by go statements were made", begun.Load(), n)
	}
}

func waitGoroutines(n int) {
	for runtime.NumGoroutine() > n {
		time.Sleep(50 * time.Microsecond)
	}
}
