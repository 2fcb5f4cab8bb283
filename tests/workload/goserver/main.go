// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goserver is an HTTP server for heartbeats that knows how long its requests took, and how much
// of that its codec took: each handler decodes the request, spins or sleeps for a known time, and
// encodes the same value. The load comes from goload, another process. Modes are ways to serve.
package main

import (
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

const codec = "encoding/json"

// server is one mode.
type server struct {
	*serve.Server
	enc, dec *truth.Func
	tls      *tls.Config
	db       *sql.DB
	queries  *serve.Samples
}

// mode makes a server of it: its handler, and what else it needs.
type mode struct {
	name    string
	prepare func(*server)
	handler func(*server) http.HandlerFunc
}

var modes = []mode{
	{"json", useMarshal, (*server).handleJSON},
	{"stream", useStreams, (*server).handleStream},
	{"handoff", useGoroutines, (*server).handleHandoff},
	{"relay", useGoroutines, (*server).handleRelay},
	{"pool", useGoroutines, (*server).handlePool},
	{"fan", useGoroutines, (*server).handleFan},
	{"proxy", useGoroutines, (*server).handleProxy},
	{"tls", useTLS, (*server).handleJSON},
	{"sql", useSQL, (*server).handleJSON},
}

func useMarshal(s *server) {
	s.enc = s.Set.Func(codec, "encode", codec+".Marshal")
	s.dec = s.Set.Func(codec, "decode", codec+".Unmarshal")
}

func useStreams(s *server) {
	s.enc = s.Set.Func(codec, "encode", codec+".(*Encoder).Encode")
	s.dec = s.Set.Func(codec, "decode", codec+".(*Decoder).Decode")
}

func fail(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusBadRequest)
}

// respond has decoded the body, does the work, and encodes what was decoded.
func (s *server) respond(w http.ResponseWriter, r *http.Request, body []byte) int64 {
	c, v, size := serve.ConnOf(r.Context()), s.Fresh(r.ContentLength), len(body)
	ns, err := s.Timed(c, s.dec, &size, func() error { return json.Unmarshal(body, v) })
	if err != nil {
		fail(w, err)
		return ns
	}
	s.work()
	var text []byte
	more, err := s.Timed(c, s.enc, &size, func() (err error) {
		text, err = json.Marshal(v)
		size = len(text)
		return err
	})
	if err != nil {
		fail(w, err)
		return ns + more
	}
	s.Set.AddChecksum(truth.Hash(text))
	_, _ = w.Write(text)
	return ns + more
}

func (s *server) work() {
	if s.db != nil {
		s.query()
		return
	}
	s.Work.Do()
}

func (s *server) handleJSON() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t0 := truth.Now()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			fail(w, err)
			return
		}
		ns := s.respond(w, r, body)
		s.Log.Handlers.Add(truth.Now()-t0, ns)
	}
}

// counter knows how much the codec wrote.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += n
	return n, err
}

// handleStream decodes from the connection and encodes to it: its codec's times have the waiting in them.
func (s *server) handleStream() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t0 := truth.Now()
		c, v, size := serve.ConnOf(r.Context()), s.Fresh(r.ContentLength), int(r.ContentLength)
		dec := json.NewDecoder(r.Body)
		ns, err := s.Timed(c, s.dec, &size, func() error { return dec.Decode(v) })
		if err != nil {
			fail(w, err)
			return
		}
		s.work()
		out := &counter{Writer: w}
		enc := json.NewEncoder(out)
		more, err := s.Timed(c, s.enc, &out.n, func() error { return enc.Encode(v) })
		if err != nil {
			truth.Fatalf("cannot encode: %v", err)
		}
		s.Set.AddChecksum(uint64(out.n))
		s.Log.Handlers.Add(truth.Now()-t0, ns+more)
	}
}

func (s *server) serve(h http.Handler) {
	lis := s.Listen()
	if s.tls != nil {
		lis = newHandshakes(lis, s.tls, s.Group("crypto/tls.(*Conn).serverHandshake"))
	}
	serve.HTTP(lis, h)
}

func main() {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	s := &server{Server: serve.NewServer(names)}
	for _, m := range modes {
		if m.name == s.Set.Opt.Mode {
			m.prepare(s)
			s.serve(m.handler(s))
		}
	}
	s.Run()
}
