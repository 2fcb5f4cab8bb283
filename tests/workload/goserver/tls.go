// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

// selfSigned is a certificate for a day, that nobody has to believe.
func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		truth.Fatalf("cannot make a key: %v", err)
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		truth.Fatalf("cannot make a certificate: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func useTLS(s *server) {
	useMarshal(s)
	s.tls = &tls.Config{Certificates: []tls.Certificate{selfSigned()}}
	s.Args = append(s.Args, "-tls")
}

// handshakes is a listener that makes the handshake of each connection, and times it, before the server
// gets to see the connection.
type handshakes struct {
	net.Listener
	conf  *tls.Config
	group *serve.Samples
	ready chan net.Conn
}

func newHandshakes(lis net.Listener, conf *tls.Config, group *serve.Samples) *handshakes {
	h := &handshakes{lis, conf, group, make(chan net.Conn)}
	go h.run()
	return h
}

func (h *handshakes) run() {
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			truth.Fatalf("cannot accept: %v", err)
		}
		go h.shake(tls.Server(c, h.conf))
	}
}

func (h *handshakes) shake(c *tls.Conn) {
	t0 := truth.Now()
	err := c.Handshake()
	h.group.Add(truth.Now()-t0, 0)
	if err != nil {
		truth.Fatalf("a handshake failed: %v", err)
	}
	h.ready <- c
}

func (h *handshakes) Accept() (net.Conn, error) {
	return <-h.ready, nil
}
