// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Package serve is what the Go servers share: connections that keep the truth of their requests, the
// load, which another process makes (goload), and the lines at the end. What a request does is left to
// the servers. README.md two folders above has the protocol.
package serve

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	truth "hbprof/workload/lib"
)

// Log is the truth of all connections of a server.
type Log struct {
	Requests Samples // by the rule of Conn
	Handlers Samples // from the beginning of a handler to its end

	accepts, unanswered, bytesIn, bytesOut atomic.Uint64

	mu   sync.Mutex
	open map[*Conn]bool
}

// NewLog makes an empty one.
func NewLog() *Log {
	return &Log{open: map[*Conn]bool{}}
}

func (l *Log) accepted(c net.Conn) *Conn {
	conn := &Conn{Conn: c, log: l}

	l.accepts.Add(1)
	l.mu.Lock()
	l.open[conn] = true
	l.mu.Unlock()
	return conn
}

// closed may be called twice for a connection.
func (l *Log) closed(c *Conn) {
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
}

func (l *Log) nrOpen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

type listener struct {
	net.Listener
	log *Log
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.log.accepted(c), nil
}

// group is a function around the codecs, with the times of its calls.
type group struct {
	function string
	calls    *Samples
}

type connKey struct{}

// WithConn is http.Server's ConnContext. Over TLS it is given the connection inside.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// ConnOf is the connection that a handler's context belongs to, or nil.
func ConnOf(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// Work is what a handler does beside its codecs, for a time that is known.
type Work struct {
	ns    int64
	sleep bool
	gc    uint64 // each so many of them also collect garbage; 0: none
	n     atomic.Uint64
	parks int      // exchanges with another goroutine: in each, two goroutines wait
	there chan int // to it, and back
	back  chan int
}

// startEcho starts the other goroutine.
func (w *Work) startEcho() {
	w.there, w.back = make(chan int), make(chan int)
	go func() {
		for n := range w.there {
			w.back <- n
		}
	}()
}

// Do does it.
func (w *Work) Do() {
	if w.gc > 0 && w.n.Add(1)%w.gc == 0 {
		runtime.GC()
	}
	for i := 0; i < w.parks; i++ {
		w.there <- i
		<-w.back
	}
	switch {
	case w.ns == 0:
	case w.sleep:
		time.Sleep(time.Duration(w.ns))
	default:
		for end := truth.Now() + w.ns; truth.Now() < end; {
		}
	}
}

// Server is one run: parse, listen, ready, load, truth.
type Server struct {
	Set  *truth.Set
	Log  *Log
	Work Work

	Load string   // the program that makes the load, beside this one
	Args []string // that only this server's load has

	AtEnd func() // adds lines to the truth; nil: there are none

	small, big        *truth.Doc
	groups            []group
	unix, short, tail *bool
	lis               net.Listener
}

// NewServer reads the flags of all servers. -n is the number of requests of the whole run, -g that of
// the connections; 0 of them: the load is made by somebody else, until a line on stdin.
func NewServer(modes []string) *Server {
	s := &Server{Log: NewLog(), Load: "goload"}
	work := flag.String("work", "spin", "how a handler spends -ns: spin or sleep")
	s.unix = flag.Bool("unix", false, "a socket of the file system's kind, with an abstract name")
	s.short = flag.Bool("short", false, "a connection for each request")
	s.tail = flag.Bool("tail", false, "every 50th request has the largest document")
	parks := flag.Int("park", 0, "exchanges of each handler with another goroutine")
	gc := flag.Uint64("collect", 0, "every so many requests run the garbage collector, nothing else does")
	opt := truth.Parse(modes)
	if *work != "spin" && *work != "sleep" {
		truth.Fatalf("no -work %s; there are: spin, sleep", *work)
	}
	s.Work.ns, s.Work.sleep, s.Work.gc = int64(opt.NS), *work == "sleep", *gc
	s.Work.parks = *parks
	s.Work.startEcho()
	s.Set = truth.NewSet(opt)
	if *gc > 0 {
		s.Set.CountStops()
	}
	s.small, s.big = truth.NewDoc(opt.Size), truth.NewDoc("device")
	return s
}

// Group is for the calls of a function that is no codec, under the name that symbol tables have for it.
func (s *Server) Group(function string) *Samples {
	g := group{function, &Samples{}}
	s.groups = append(s.groups, g)
	return g.calls
}

// Listen opens the socket. Whoever serves gets connections that keep the truth.
func (s *Server) Listen() net.Listener {
	network, addr := "tcp", "127.0.0.1:0"
	if *s.unix {
		network, addr = "unix", "@hbprof-workload-"+strconv.Itoa(os.Getpid())
	}
	lis, err := net.Listen(network, addr)
	if err != nil {
		truth.Fatalf("cannot listen: %v", err)
	}
	s.lis = lis
	return &listener{lis, s.Log}
}

// Fresh is an empty value for a body of this length: the load's own document, or that of its tail.
func (s *Server) Fresh(length int64) any {
	if length == int64(len(s.big.Text)) {
		return s.big.Fresh()
	}
	return s.small.Fresh()
}

// Timed makes a codec's call for its function and for the request, and returns its ns. The size is
// looked at after the call. There may be no connection.
func (s *Server) Timed(c *Conn, f *truth.Func, size *int, call func() error) (int64, error) {
	f.Enter()
	t0 := truth.Now()
	err := call()
	ns := truth.Now() - t0
	f.Return(ns, *size, err != nil)
	if c != nil {
		c.AddCodec(ns)
	}
	return ns, err
}

// HTTP serves a listener as long as the process lives.
func HTTP(lis net.Listener, h http.Handler) {
	srv := &http.Server{Handler: h, ConnContext: WithConn, ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0)}
	go func() { truth.Fatalf("the server has ended: %v", srv.Serve(lis)) }()
}

// Run says that the server is ready, has it loaded, and prints what came of it. It
// has begun to serve the listener before.
func (s *Server) Run() {
	fmt.Printf("LISTEN %s\n", s.lis.Addr())
	s.Set.Start()
	if s.Set.Opt.G > 0 {
		s.load()
	} else {
		s.Set.Wait()
	}
	s.drain()
	s.print()
	s.Set.Finish()
}

// load runs the load to its end; what it prints is part of the truth.
func (s *Server) load() {
	self, err := os.Executable()
	if err != nil {
		truth.Fatalf("%v", err)
	}
	o := &s.Set.Opt
	args := append([]string{"-addr", s.lis.Addr().String(), "-n", strconv.Itoa(o.N),
		"-g", strconv.Itoa(o.G), "-rate", strconv.FormatFloat(o.Rate, 'f', -1, 64), "-size", o.Size,
		"-short=" + strconv.FormatBool(*s.short), "-tail=" + strconv.FormatBool(*s.tail)}, s.Args...)
	cmd := exec.Command(filepath.Join(filepath.Dir(self), s.Load), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		truth.Fatalf("%s: %v", s.Load, err)
	}
	in := bufio.NewScanner(strings.NewReader(string(out)))
	for in.Scan() {
		s.Set.Notef("%s", in.Text())
	}
}

// drain waits until the server has seen that its clients are gone.
func (s *Server) drain() {
	for i := 0; s.Log.nrOpen() > 0; i++ {
		if i == 2000 {
			truth.Fatalf("%d connections are open 20 s after the load's end", s.Log.nrOpen())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *Server) print() {
	l := s.Log
	s.Set.Notef("REQUESTS rule=connection count=%d unanswered=%d connections=%d bytes_in=%d bytes_out=%d",
		l.Requests.Len(), l.unanswered.Load(), l.accepts.Load(), l.bytesIn.Load(), l.bytesOut.Load())
	s.Set.Notef("REQUESTS rule=handler count=%d", l.Handlers.Len())
	if s.AtEnd != nil {
		s.AtEnd()
	}
	for _, g := range s.groups {
		s.Set.Notef("GROUP %s calls=%d", g.function, g.calls.Len())
		for _, line := range g.calls.Lines(g.function)[:min(1, g.calls.Len())] {
			s.Set.Notef("%s", line)
		}
	}
	for _, line := range append(l.Requests.Lines("request"), l.Handlers.Lines("handler")...) {
		s.Set.Notef("%s", line)
	}
}
