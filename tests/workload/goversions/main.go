// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goversions is for compilers and runtimes from Go 1.20 on: it needs nothing that is newer, and so
// has its own small part of the truth package. Each round is a goroutine of its own, which the runtime
// gives a used g: calls that return, that are left by a panic or by Goexit, nested ones, all on stacks that
// grow, while the garbage collector runs.
package main

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

var (
	n      = flag.Int("n", 500, "rounds of each worker")
	g      = flag.Int("g", 4, "workers")
	procs  = flag.Int("procs", 2, "GOMAXPROCS")
	serve  = flag.Bool("serve", false, "serve as many requests to as many clients instead, with goroutines")
	nowait = flag.Bool("nowait", false, "do not wait for stdin at start and end")

	marshal   = newFunc("encoding/json", "encode", "encoding/json.Marshal")
	unmarshal = newFunc("encoding/json", "decode", "encoding/json.Unmarshal")
	gobEncode = newFunc("encoding/gob", "encode", "encoding/gob.(*Encoder).Encode")
	gobDecode = newFunc("encoding/gob", "decode", "encoding/gob.(*Decoder).Decode")
	funcs     []*function
	checksum  uint64
)

// function counts the calls of one, as truth.Func does.
type function struct {
	codec, op, name                                     string
	entries, calls, errors, abandoned, sizeSum, sizeMax uint64
}

func newFunc(codec, op, name string) *function {
	f := &function{codec: codec, op: op, name: name}
	funcs = append(funcs, f)
	return f
}

// enter counts an entry that is about to happen.
func (f *function) enter() { atomic.AddUint64(&f.entries, 1) }

// left counts an outermost call that did not return.
func (f *function) left() { atomic.AddUint64(&f.abandoned, 1) }

// back counts an outermost call that returned.
func (f *function) back(size int, err error) {
	atomic.AddUint64(&f.calls, 1)
	if err != nil {
		atomic.AddUint64(&f.errors, 1)
	}
	atomic.AddUint64(&f.sizeSum, uint64(size))
	for old := atomic.LoadUint64(&f.sizeMax); uint64(size) > old; old = atomic.LoadUint64(&f.sizeMax) {
		atomic.CompareAndSwapUint64(&f.sizeMax, old, uint64(size))
	}
}

// Beat is what is encoded.
type Beat struct {
	Node  string `json:"node"`
	Seq   int    `json:"seq"`
	Alive bool   `json:"alive"`
}

var (
	beat = &Beat{"node-0017.rack-04", 9000217, true}
	text = []byte(`{"node":"node-0017.rack-04","seq":9000217,"alive":true}`)
)

// hook is a value whose encoding calls a function, by both codecs.
type hook func() ([]byte, error)

func (h hook) MarshalJSON() ([]byte, error) { return h() }
func (h hook) GobEncode() ([]byte, error)   { return h() }

var errHook = errors.New("not to be encoded")

func encodeJSON(v any) {
	marshal.enter()
	b, err := json.Marshal(v)
	marshal.back(len(b), err)
	atomic.AddUint64(&checksum, uint64(len(b)))
}

func decodeJSON(in []byte) {
	var b Beat

	unmarshal.enter()
	err := json.Unmarshal(in, &b)
	unmarshal.back(len(in), err)
	atomic.AddUint64(&checksum, uint64(b.Seq))
}

// throughGob has no sizes: they are in no register.
func throughGob() {
	var buf bytes.Buffer
	var b Beat

	enc, dec := gob.NewEncoder(&buf), gob.NewDecoder(&buf)
	gobEncode.enter()
	err := enc.Encode(beat)
	gobEncode.back(0, err)
	gobDecode.enter()
	err = dec.Decode(&b)
	gobDecode.back(0, err)
	atomic.AddUint64(&checksum, uint64(b.Seq))
}

// nested is one call of two entries.
func nested() {
	encodeJSON(hook(func() ([]byte, error) {
		marshal.enter()
		return json.Marshal(beat)
	}))
}

// panicking leaves a call of each encoder, and a nested one.
func panicking() {
	defer func() {
		if recover() == nil {
			panic("there was no panic")
		}
	}()
	marshal.enter()
	defer marshal.left()
	_, _ = json.Marshal(hook(func() ([]byte, error) {
		defer gobEncode.left()
		gobEncode.enter()
		_ = gob.NewEncoder(&bytes.Buffer{}).Encode(hook(func() ([]byte, error) { panic("left") }))
		return nil, nil
	}))
}

// failing has calls that return an error, after the panic and over its stack.
func failing() {
	encodeJSON(hook(func() ([]byte, error) { return nil, errHook }))
	decodeJSON(text[:len(text)-3])
}

// exiting ends its goroutine from inside of a call.
func exiting() {
	marshal.enter()
	defer marshal.left()
	_, _ = json.Marshal(hook(func() ([]byte, error) {
		runtime.Goexit()
		return nil, nil
	}))
}

// deeper makes a stack that has to grow, by another amount in each round.
//
//go:noinline
func deeper(levels int, f func()) {
	var pad [256]byte

	if levels > 0 {
		deeper(levels-1, f)
	} else {
		f()
	}
	atomic.AddUint64(&checksum, uint64(pad[levels%len(pad)]))
}

func round(i int) {
	deeper(i%29, func() { encodeJSON(beat) })
	decodeJSON(text)
	throughGob()
	nested()
	panicking()
	encodeJSON(beat)
	failing()
	if i%2 == 1 {
		exiting()
	}
}

func worker(all *sync.WaitGroup) {
	defer all.Done()
	for i := 0; i < *n; i++ {
		i, done := i, make(chan bool)
		go func() {
			defer close(done)
			round(i)
		}()
		<-done
	}
}

func wait(in *bufio.Reader) {
	if !*nowait {
		_, _ = in.ReadString('\n')
	}
}

func collect(stop chan bool) {
	for {
		select {
		case <-stop:
			return
		default:
			runtime.GC()
		}
	}
}

func main() {
	flag.Parse()
	runtime.GOMAXPROCS(*procs)
	in := bufio.NewReader(os.Stdin)
	runtime.GC() // which starts its goroutines, once
	fmt.Printf("PID %d\nREADY\n", os.Getpid())
	wait(in)
	var all sync.WaitGroup
	stop := make(chan bool)
	go collect(stop)
	all.Add(*g)
	if *serve {
		clients(&all)
	}
	for i := 0; i < *g && !*serve; i++ {
		go worker(&all)
	}
	all.Wait()
	close(stop)
	for _, f := range funcs {
		fmt.Printf("TRUTH %s %s %s calls=%d entries=%d errors=%d size_sum=%d size_max=%d abandoned=%d\n",
			f.codec, f.op, f.name, f.calls, f.entries, f.errors, f.sizeSum, f.sizeMax, f.abandoned)
	}
	if *serve {
		count := *n * *g
		fmt.Printf("REQUESTS rule=connection count=%d\nGOROUTINES handlers=%d\n", count, 2*count)
	}
	fmt.Printf("LIBRARY encoding/json %s\nCHECKSUM %d\nDONE\n", runtime.Version(), checksum)
	wait(in)
}
