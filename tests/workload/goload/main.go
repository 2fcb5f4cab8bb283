// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goload asks an HTTP server an exact number of times. It writes requests that are made before and
// reads answers by their length, and calls no codec and nothing of net/http: whoever profiles it too sees
// the server's calls only. Each connection has one request under way.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	truth "hbprof/workload/lib"
)

const tailEvery = 50

var (
	addr  = flag.String("addr", "", "HOST:PORT, or @NAME of a unix socket")
	path  = flag.String("path", "/", "what is asked for")
	n     = flag.Int("n", 1000, "requests over all connections")
	conns = flag.Int("g", 1, "connections")
	rate  = flag.Float64("rate", 0, "requests a second over all connections (0: flat out)")
	size  = flag.String("size", "heartbeat", "document: "+strings.Join(truth.DocNames(), ", "))
	short = flag.Bool("short", false, "a connection for each request")
	tail  = flag.Bool("tail", false, "every 50th request of a connection has the largest document")
	isTLS = flag.Bool("tls", false, "over TLS, without looking at the certificate")
	procs = flag.Int("procs", runtime.NumCPU(), "GOMAXPROCS")
)

// load is what all connections add to.
type load struct {
	small, big    []byte
	answers       *truth.Hist
	dialed        atomic.Uint64
	done, out, in atomic.Uint64
}

func request(doc *truth.Doc) []byte {
	alive := ""
	if *short {
		alive = "Connection: close\r\n"
	}
	return []byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", *path, alive, len(doc.Text), doc.Text))
}

func dial() (net.Conn, error) {
	network := "tcp"
	if strings.HasPrefix(*addr, "@") {
		network = "unix"
	}
	c, err := net.Dial(network, *addr)
	if err != nil || !*isTLS {
		return c, err
	}
	t := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	if err := t.Handshake(); err != nil {
		c.Close()
		return nil, err
	}
	return t, nil
}

// client is one connection at a time.
type client struct {
	load *load
	conn net.Conn
	in   *bufio.Reader
}

func (c *client) connect() {
	conn, err := dial()
	if err != nil {
		truth.Fatalf("cannot connect to %s: %v", *addr, err)
	}
	c.load.dialed.Add(1)
	c.conn, c.in = conn, bufio.NewReaderSize(conn, 16384)
}

// answer reads one, and returns its length in bytes.
func (c *client) answer() (int, error) {
	length, n := -1, 0

	for line := 0; ; line++ {
		b, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		n += len(b)
		b = bytes.TrimSpace(b)
		if line == 0 && !bytes.Contains(b, []byte(" 200 ")) {
			return 0, fmt.Errorf("the server says %q", b)
		}
		if len(b) == 0 {
			break
		}
		key, value, _ := bytes.Cut(b, []byte(": "))
		if bytes.EqualFold(key, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return c.chunks(n)
	}
	_, err := c.in.Discard(length)
	return n + length, err
}

// chunks reads a body whose length is told piece by piece.
func (c *client) chunks(n int) (int, error) {
	for {
		b, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		size, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 16, 31)
		if err != nil {
			return 0, err
		}
		n += len(b) + int(size) + 2
		if _, err := c.in.Discard(int(size) + 2); err != nil {
			return 0, err
		}
		if size == 0 {
			return n, nil
		}
	}
}

func (c *client) ask(text []byte) {
	t0 := truth.Now()
	if _, err := c.conn.Write(text); err != nil {
		truth.Fatalf("cannot write: %v", err)
	}
	n, err := c.answer()
	if err != nil {
		truth.Fatalf("no answer: %v", err)
	}
	l := c.load
	l.answers.Add(uint64(truth.Now() - t0))
	l.out.Add(uint64(len(text)))
	l.in.Add(uint64(n))
	l.done.Add(1)
}

// leave ends the connection, after the server if that is to end it.
func (c *client) leave() {
	if *short && !*isTLS {
		_, _ = io.Copy(io.Discard, c.in)
	}
	c.conn.Close()
}

func (c *client) run(n int) {
	p := truth.NewPacer(*rate, *conns)
	for i := range n {
		p.Wait()
		text := c.load.small
		if *tail && i%tailEvery == tailEvery-1 {
			text = c.load.big
		}
		c.ask(text)
		if *short && i < n-1 {
			c.leave()
			c.connect()
		}
	}
	c.leave()
}

func parse() {
	flag.Parse()
	known := false
	for _, name := range truth.DocNames() {
		known = known || name == *size
	}
	if *addr == "" || *n < 1 || *conns < 1 || *conns > *n || *rate < 0 || *procs < 1 || flag.NArg() > 0 || !known {
		flag.Usage()
		os.Exit(2)
	}
}

func main() {
	parse()
	runtime.GOMAXPROCS(*procs)
	l := &load{answers: truth.NewHist(), small: request(truth.NewDoc(*size)), big: request(truth.NewDoc("device"))}
	clients := make([]client, *conns)
	for i := range clients { // all are connected before the first request
		clients[i].load = l
		clients[i].connect()
	}
	var all sync.WaitGroup
	t0 := truth.Now()
	for i := range clients {
		share := *n / *conns
		if i < *n%*conns {
			share++
		}
		all.Add(1)
		go func() {
			defer all.Done()
			clients[i].run(share)
		}()
	}
	all.Wait()
	seconds := float64(truth.Now()-t0) / 1e9
	fmt.Printf("LOAD requests=%d connections=%d bytes_out=%d bytes_in=%d\n", l.done.Load(), l.dialed.Load(),
		l.out.Load(), l.in.Load())
	fmt.Printf("LATENCY client %s\n", l.answers.String())
	fmt.Printf("RATE client per_s=%.1f\n", float64(l.done.Load())/seconds)
}
