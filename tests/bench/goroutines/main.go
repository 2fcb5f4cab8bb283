// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goroutines says how long it takes to start a goroutine and to wait for its end: for one that has
// no request, and for one that has just read one from a connection.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

const (
	starts = 2000
	loops  = 40
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// fastest is the quickest of the loops, ns a start. One at a time, so that one CPU has it all to itself.
func fastest() float64 {
	best := time.Hour
	done := make(chan bool)

	for i := 0; i < loops; i++ {
		t0 := time.Now()
		for n := 0; n < starts; n++ {
			go func() { done <- true }()
			<-done
		}
		if d := time.Since(t0); d < best {
			best = d
		}
	}
	return float64(best.Nanoseconds()) / starts
}

// request reads one byte from a connection that this process has accepted.
func request() net.Conn {
	var b [1]byte

	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	client, err := net.Dial("tcp", lis.Addr().String())
	must(err)
	server, err := lis.Accept()
	must(err)
	_, err = client.Write(b[:])
	must(err)
	_, err = server.Read(b[:])
	must(err)
	return server
}

func main() {
	in := bufio.NewReader(os.Stdin)

	runtime.GOMAXPROCS(1)
	fmt.Printf("PID %d\nREADY\n", os.Getpid())
	_, _ = in.ReadString('\n')
	_, err := json.Marshal(starts) // a codec, for there to be something to measure
	must(err)
	fmt.Printf("GOROUTINE without %.1f\n", fastest())
	c := request()
	fmt.Printf("GOROUTINE with %.1f\nDONE\n", fastest())
	_, _ = in.ReadString('\n')
	must(c.Close())
}
