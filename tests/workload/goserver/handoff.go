// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

// How many goroutines handlers have started themselves; net/http's own are not among them.
var started atomic.Uint64

func start(f func()) {
	started.Add(1)
	go f()
}

func useGoroutines(s *server) {
	useMarshal(s)
	runtime.GC() // which starts its goroutines, once
	s.AtEnd = func() { s.Set.Notef("GOROUTINES handlers=%d", started.Load()) }
}

// inBody reads the body and has the rest done by somebody, who says how long codecs took.
func (s *server) inBody(rest func(w http.ResponseWriter, r *http.Request, body []byte) int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t0 := truth.Now()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			fail(w, err)
			return
		}
		ns := rest(w, r, body)
		s.Log.Handlers.Add(truth.Now()-t0, ns)
	}
}

// handleHandoff has another goroutine do all that the request needs.
func (s *server) handleHandoff() http.HandlerFunc {
	return s.inBody(func(w http.ResponseWriter, r *http.Request, body []byte) int64 {
		ns := make(chan int64)
		start(func() { ns <- s.respond(w, r, body) })
		return <-ns
	})
}

// handleRelay has it done by one that another one starts.
func (s *server) handleRelay() http.HandlerFunc {
	return s.inBody(func(w http.ResponseWriter, r *http.Request, body []byte) int64 {
		ns := make(chan int64)
		start(func() { start(func() { ns <- s.respond(w, r, body) }) })
		return <-ns
	})
}

// handlePool hands it to goroutines that were there before.
func (s *server) handlePool() http.HandlerFunc {
	work := make(chan func())
	for i := 0; i < 4; i++ {
		go func() {
			for f := range work {
				f()
			}
		}()
	}
	return s.inBody(func(w http.ResponseWriter, r *http.Request, body []byte) int64 {
		ns := make(chan int64)
		work <- func() { ns <- s.respond(w, r, body) }
		return <-ns
	})
}

// meeting is a value that is being encoded by as many as the group waits for, all at the same time.
type meeting struct {
	value any
	all   *sync.WaitGroup
}

func (m meeting) MarshalJSON() ([]byte, error) {
	m.all.Done()
	m.all.Wait()
	return []byte(`"met"`), nil
}

// handleFan encodes twice, and each call waits for the other one to have begun.
func (s *server) handleFan() http.HandlerFunc {
	return s.inBody(func(w http.ResponseWriter, r *http.Request, body []byte) int64 {
		c, v, size := serve.ConnOf(r.Context()), s.Fresh(r.ContentLength), len(body)
		sum, err := s.Timed(c, s.dec, &size, func() error { return json.Unmarshal(body, v) })
		if err != nil {
			fail(w, err)
			return sum
		}
		ns, all := make(chan int64), &sync.WaitGroup{}
		all.Add(2)
		for i := 0; i < 2; i++ {
			start(func() {
				var n int
				took, err := s.Timed(c, s.enc, &n, func() error {
					text, err := json.Marshal(meeting{v, all})
					n = len(text)
					return err
				})
				if err != nil {
					truth.Fatalf("cannot encode: %v", err)
				}
				s.Set.AddChecksum(uint64(n))
				ns <- took
			})
		}
		sum += <-ns + <-ns
		_, _ = w.Write(body)
		return sum
	})
}
