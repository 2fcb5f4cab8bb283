// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

/*
void call_back(int depth);
*/
import "C"

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"

	truth "hbprof/workload/lib"
)

var requests atomic.Uint64

func must(err error) {
	if err != nil {
		truth.Fatalf("%v", err)
	}
}

// connection serves requests of a byte: each is decoded by a codec in C, and encoded in Go that C calls.
func connection(c net.Conn, decode func()) {
	var b [1]byte

	for {
		if _, err := c.Read(b[:]); err == io.EOF {
			break
		} else {
			must(err)
		}
		decode()
		C.call_back(0)
		requests.Add(1)
		_, err := c.Write(b[:])
		must(err)
	}
	must(c.Close())
}

// serve has every second connection's goroutine locked to its thread.
func serve(n int, decode func()) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go func() {
		for i := 0; ; i++ {
			c, err := lis.Accept()
			must(err)
			go func() {
				if i%2 == 1 {
					runtime.LockOSThread()
				}
				connection(c, decode)
			}()
		}
	}()
	workers(1, func() {
		var b [1]byte

		c, err := net.Dial("tcp", lis.Addr().String())
		must(err)
		for range n {
			_, err = c.Write(b[:])
			must(err)
			_, err = io.ReadFull(c, b[:])
			must(err)
		}
		must(c.Close())
	})
	set.Notef("REQUESTS rule=connection count=%d", requests.Load())
}
