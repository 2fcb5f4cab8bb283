// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command gotls is a server of net/http and its clients in one process, over TLS with certificates that nobody
// has to believe. Modes are what clients and server agree on: h2, HTTP/2; offered, HTTP/1.1 though the
// clients can speak HTTP/2; plain, HTTP/1.1 without that; idle, as plain, and the server closes the
// connections when nothing has come for a while, before the clients do.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	truth "hbprof/workload/lib"
)

const (
	idle = 1300 * time.Millisecond // longer than what hbprof calls a pause
	ask  = `{"a":1}`
)

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		truth.Fatalf("cannot make a key: %v", err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		truth.Fatalf("cannot make a certificate: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

type server struct {
	set      *truth.Set
	enc, dec *truth.Func
	count    atomic.Int64
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		truth.Fatalf("cannot read a request: %v", err)
	}
	var v any
	s.dec.Enter()
	err = json.Unmarshal(body, &v)
	s.dec.Count(len(body), err != nil)
	s.enc.Enter()
	text, err := json.Marshal(v)
	s.enc.Count(len(text), err != nil)
	s.count.Add(1)
	_, _ = w.Write(text)
}

func (s *server) listen(mode string) string {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		truth.Fatalf("cannot listen: %v", err)
	}
	srv := &http.Server{
		Handler:   s,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate()}},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	if mode == "idle" {
		srv.IdleTimeout = idle
	}
	if mode != "h2" {
		srv.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	go func() { _ = srv.ServeTLS(lis, "", "") }()
	return "https://" + lis.Addr().String()
}

// client has a connection of its own, on which it asks one thing after the other.
func client(mode, url string, n int) {
	t := &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2: mode == "h2" || mode == "offered",
	}
	c := &http.Client{Transport: t}
	for i := 0; i < n; i++ {
		r, err := c.Post(url, "application/json", strings.NewReader(ask))
		if err != nil {
			truth.Fatalf("cannot ask: %v", err)
		}
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != ask {
			truth.Fatalf("another answer: %q, %v", b, err)
		}
		_ = r.Body.Close()
	}
	if mode == "idle" {
		time.Sleep(2 * idle)
	}
	t.CloseIdleConnections()
}

func main() {
	opt := truth.Parse([]string{"h2", "offered", "plain", "idle"})
	s := &server{set: truth.NewSet(opt)}
	s.enc = s.set.Func("encoding/json", "encode", "encoding/json.Marshal")
	s.dec = s.set.Func("encoding/json", "decode", "encoding/json.Unmarshal")
	url := s.listen(opt.Mode)
	s.set.Start()
	g := max(opt.G, 1)
	var wg sync.WaitGroup
	for i := 0; i < g; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			client(opt.Mode, url, opt.N)
		}()
	}
	wg.Wait()
	fmt.Printf("REQUESTS rule=connection count=%d connections=%d\n", s.count.Load(), g)
	s.set.Finish()
}
