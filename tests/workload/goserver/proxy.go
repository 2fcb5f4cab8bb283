// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

// upstream is the server behind the proxy, in the same process and on a port of its own. Its requests are
// not among those that the truth has; their codec calls are.
func (s *server) upstream() string {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		truth.Fatalf("cannot listen: %v", err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				fail(w, err)
				return
			}
			s.respond(w, r, body)
		})}
	go func() { truth.Fatalf("the upstream server has ended: %v", srv.Serve(lis)) }()
	s.Set.Notef("LISTEN upstream %s", lis.Addr())
	return "http://" + lis.Addr().String()
}

// ask has the upstream server answer, and reads that answer.
func ask(client *http.Client, url string, body []byte) ([]byte, error) {
	r, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

// handleProxy decodes what it is asked, asks upstream, and answers with what that has said, decoded and
// encoded: of its own codec calls one is before, two are after it has read from a server itself.
func (s *server) handleProxy() http.HandlerFunc {
	url := s.upstream()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

	return s.inBody(func(w http.ResponseWriter, r *http.Request, body []byte) int64 {
		c, v, size := serve.ConnOf(r.Context()), s.Fresh(r.ContentLength), len(body)
		ns, err := s.Timed(c, s.dec, &size, func() error { return json.Unmarshal(body, v) })
		if err != nil {
			fail(w, err)
			return ns
		}
		answer, err := ask(client, url, body)
		if err != nil {
			truth.Fatalf("upstream: %v", err)
		}
		return ns + s.respond(w, r, answer)
	})
}
