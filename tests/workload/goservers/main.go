// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command goservers is goserver's handler in the frameworks that people use: each decodes the request,
// works for a known time, and encodes the same value, by the framework's own functions. The codec that a
// framework has is wrapped, so that its calls are timed and nothing around them is.
package main

import (
	"net/http"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

const jsonPath = "encoding/json"

// server is one mode; enc and dec are the functions that its framework calls.
type server struct {
	*serve.Server
	enc, dec *truth.Func
}

// timedHandler is around the whole of a framework.
func (s *server) timedHandler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := &owner{conn: serve.ConnOf(r.Context()), size: int(r.ContentLength)}
		t0 := truth.Now()
		h.ServeHTTP(w, r.WithContext(o.in(r.Context())))
		s.Log.Handlers.Add(truth.Now()-t0, o.codec)
	})
}

var modes = []struct {
	name  string
	start func(*server)
}{
	{"gin", startGin},
	{"echo", startEcho},
	{"grpc", startGRPC},
	{"grpcstream", startGRPC},
}

func main() {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	s := &server{Server: serve.NewServer(names)}
	for _, m := range modes {
		if m.name == s.Set.Opt.Mode {
			m.start(s)
		}
	}
	s.Run()
}
