// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	truth "hbprof/workload/lib"
)

// Modes with several codecs at once, on goroutines that come and go. They are not among -modes, which are
// of one codec each.
//
//	storm     all codecs in turn by -g workers, with calls that a panic leaves; -n rounds
//	endless   the same until a line on stdin
//	inflight  30,000 goroutines (-g), each inside of a call of one of four codecs at the same time
var storms = map[string]func(*truth.Set){
	"storm":    func(s *truth.Set) { runStorm(s, false) },
	"endless":  func(s *truth.Set) { runStorm(s, true) },
	"inflight": runInflight,
}

// shared is a run of several jobs: a function is one, whichever of them call it.
type shared struct {
	set   *truth.Set
	funcs map[string]*truth.Func
}

func (s *shared) function(codec, op, name string) *truth.Func {
	if s.funcs == nil {
		s.funcs = map[string]*truth.Func{}
	}
	if s.funcs[name] == nil {
		s.funcs[name] = s.set.Func(codec, op, name)
	}
	return s.funcs[name]
}

func (s *shared) newJob(a *api, op, doc string) *job {
	d := truth.NewDoc(doc)
	j := &job{set: s.set, doc: d, api: a, value: d.Value, fresh: d.Fresh}
	list := a.enc
	if op == "decode" {
		list = a.dec
	}
	for _, in := range list {
		if n := in.entries(doc); n > 0 {
			name := strings.ReplaceAll(in.name, "{T}", typeName(doc))
			j.funcs = append(j.funcs, s.function(a.codec, op, name))
			j.entries = append(j.entries, n)
		}
	}
	j.prepare()
	return j
}

// hook is a value whose encoding calls a function, by each codec that lets it.
type hook func()

func (h hook) MarshalJSON() ([]byte, error) { h(); return []byte("1"), nil }
func (h hook) MarshalCBOR() ([]byte, error) { h(); return []byte{1}, nil }

// EncodeMsgpack is msgpack's way.
func (h hook) EncodeMsgpack(e *msgpack.Encoder) error { h(); return e.EncodeNil() }

// hooked are the encoders that call a hook, of one byte each.
func hooked(encoders []*job) (list []*job) {
	for _, j := range encoders {
		switch j.api.mode {
		case "json", "jsoniter", "cbor", "msgpack":
			list = append(list, j)
		}
	}
	return list
}

// jobs of all codecs. Each has made a call, and a profiler has had the time to learn where it returns.
func stormJobs(set *truth.Set) (encoders, decoders []*job, settle func()) {
	all := shared{set: set}
	for _, a := range apis {
		encoders = append(encoders, all.newJob(a, "encode", set.Opt.Size))
		decoders = append(decoders, all.newJob(a, "decode", set.Opt.Size))
	}
	return encoders, decoders, func() {
		for i := range encoders {
			encoders[i].checkedEncode()
			decoders[i].checkedDecode()
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (j *job) checkedEncode() {
	b, err := j.encodeOne(j.value)
	if err != nil || len(b) != len(j.text) {
		truth.Fatalf("%s: %d bytes for %d: %v", j.api.mode, len(b), len(j.text), err)
	}
	j.set.AddChecksum(uint64(len(b)))
}

func (j *job) checkedDecode() {
	v := j.fresh()
	if err := j.decodeOne(j.text, v); err != nil {
		truth.Fatalf("%s: %v", j.api.mode, err)
	}
	j.set.AddChecksum(j.checkDecoded(v))
}

// leave makes a call that a panic ends. Functions inside of the outermost one end with it, and what becomes
// of those is not counted: so only of codecs that have none.
func (j *job) leave() {
	defer func() {
		if recover() == nil {
			truth.Fatalf("%s: there was no panic", j.api.mode)
		}
	}()
	j.enter()
	defer j.funcs[0].Abandon()
	_, _ = j.api.encode(hook(func() { panic("left") }))
}

func runStorm(set *truth.Set, endless bool) {
	var stop atomic.Bool
	var all sync.WaitGroup

	encoders, decoders, settle := stormJobs(set)
	set.Start()
	settle()
	if endless {
		go func() {
			set.Wait()
			stop.Store(true)
		}()
	}
	round := func(i int) {
		for k := range encoders {
			encoders[k].checkedEncode()
			decoders[k].checkedDecode()
		}
		for _, j := range hooked(encoders) {
			if len(j.funcs) == 1 && i%3 == 0 {
				j.leave()
			}
		}
		encoders[i%len(encoders)].checkedEncode() // over what the panics have left
	}
	workers := set.Opt.G
	if workers == 0 {
		workers = 4
	}
	for range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; (endless || i < set.Opt.N) && !stop.Load(); i++ {
				done := make(chan bool)
				go func() {
					defer close(done)
					round(i)
				}()
				<-done
			}
		}()
	}
	all.Wait()
	set.Finish()
}

func runInflight(set *truth.Set) {
	encoders, _, settle := stormJobs(set)
	list, n := hooked(encoders), set.Opt.G
	if n == 0 {
		n = 30000
	}
	set.Start()
	settle()
	for range min(set.Opt.N, 3) {
		var entered atomic.Int64
		var all sync.WaitGroup

		wake := make(chan bool)
		v := hook(func() {
			entered.Add(1)
			<-wake
		})
		for i := range n {
			all.Add(1)
			go func() {
				defer all.Done()
				j := list[i%len(list)]
				j.enter()
				b, err := j.api.encode(v)
				j.funcs[0].Count(len(b), err != nil)
			}()
		}
		for entered.Load() < int64(n) {
			runtime.Gosched()
		}
		close(wake)
		all.Wait()
	}
	set.Notef("BLOCKED all calls=%d", n)
	set.Finish()
}
