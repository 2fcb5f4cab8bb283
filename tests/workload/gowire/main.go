// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command gowire serves JSON over plain TCP, and its clients are in the same process. Modes: decoder, both ends
// have decoders on their connections, which wait for what comes, the server's for longer than it works; handed,
// who reads a connection's first request hands it on to another goroutine, and encodes something of its own
// while that one serves.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	truth "hbprof/workload/lib"
)

const (
	ask  = "{\"a\":1}\n"
	idle = 4 * time.Millisecond // before each request
	work = 2 * time.Millisecond // at each request
)

type server struct {
	enc, stream *truth.Func
	count       atomic.Int64
}

func must(err error) {
	if err != nil {
		truth.Fatalf("%v", err)
	}
}

// decode is one call of a decoder; false: nothing more comes.
func (s *server) decode(d *json.Decoder, v any) bool {
	s.stream.Enter()
	err := d.Decode(v)
	s.stream.Count(0, err != nil)
	return err == nil
}

func (s *server) encode(v any) []byte {
	s.enc.Enter()
	text, err := json.Marshal(v)
	s.enc.Count(len(text), err != nil)
	return append(text, '\n')
}

func (s *server) answer(c net.Conn, v any) {
	time.Sleep(work)
	_, err := c.Write(s.encode(v))
	must(err)
	s.count.Add(1)
}

func (s *server) decodes(c net.Conn) {
	var v any
	for d := json.NewDecoder(c); s.decode(d, &v); {
		s.answer(c, v)
	}
	_ = c.Close()
}

func (s *server) handsOn(c net.Conn) {
	r, over := bufio.NewReader(c), make(chan bool)
	_, err := r.ReadString('\n')
	must(err)
	s.answer(c, "first")
	go func() {
		defer close(over)
		for _, err := r.ReadString('\n'); err == nil; _, err = r.ReadString('\n') {
			time.Sleep(work)
			_, err := io.WriteString(c, ask)
			must(err)
			s.count.Add(1)
		}
		_ = c.Close()
	}()
	for {
		select {
		case <-over:
			return
		case <-time.After(work / 4):
			s.encode("its own")
		}
	}
}

func (s *server) client(mode, addr string, n int) {
	c, err := net.Dial("tcp", addr)
	must(err)
	r, d := bufio.NewReader(c), json.NewDecoder(c)
	for range n {
		time.Sleep(idle)
		_, err = io.WriteString(c, ask)
		must(err)
		var v any
		if mode == "decoder" && !s.decode(d, &v) {
			truth.Fatalf("no answer")
		} else if mode != "decoder" {
			_, err = r.ReadString('\n')
			must(err)
		}
	}
	_ = c.Close()
}

func main() {
	opt := truth.Parse([]string{"decoder", "handed"})
	set := truth.NewSet(opt)
	s := &server{enc: set.Func("encoding/json", "encode", "encoding/json.Marshal")}
	s.stream = set.Func("encoding/json", "decode", "encoding/json.(*Decoder).Decode")
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	serve := s.decodes
	if opt.Mode == "handed" {
		serve = s.handsOn
	}
	set.Start()
	g := max(opt.G, 1)
	var wg sync.WaitGroup
	for range g {
		wg.Add(2)
		go func() {
			defer wg.Done()
			c, err := lis.Accept()
			must(err)
			serve(c)
		}()
		go func() {
			defer wg.Done()
			s.client(opt.Mode, lis.Addr().String(), opt.N)
		}()
	}
	wg.Wait()
	fmt.Printf("REQUESTS rule=connection count=%d connections=%d\n", s.count.Load(), g)
	set.Finish()
}
