// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"io"
	"net"
	"sync"
)

// A request is a byte, and so is its answer. In between, a goroutine that the connection's own one starts
// decodes, and one that this one starts encodes.
func respond() {
	done := make(chan bool)
	go func() {
		decodeJSON(text)
		go func() {
			encodeJSON(beat)
			close(done)
		}()
	}()
	<-done
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func connection(c net.Conn) {
	var b [1]byte

	for {
		if _, err := c.Read(b[:]); err == io.EOF {
			break
		} else {
			must(err)
		}
		respond()
		_, err := c.Write(b[:])
		must(err)
	}
	must(c.Close())
}

func client(addr string, all *sync.WaitGroup) {
	var b [1]byte

	c, err := net.Dial("tcp", addr)
	must(err)
	for i := 0; i < *n; i++ {
		_, err = c.Write(b[:])
		must(err)
		_, err = io.ReadFull(c, b[:])
		must(err)
	}
	must(c.Close())
	all.Done()
}

// clients starts a server, and as many clients as there are in the group.
func clients(all *sync.WaitGroup) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go func() {
		for {
			c, err := lis.Accept()
			must(err)
			go connection(c)
		}
	}()
	for i := 0; i < *g; i++ {
		go client(lis.Addr().String(), all)
	}
}
