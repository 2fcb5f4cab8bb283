// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package serve

import (
	"net"
	"testing"
)

func TestSharesAreThoseOfTheRequestsOfThatLatency(t *testing.T) {
	var s Samples

	// 1..1000 ns; a codec's share of 10 % in the middle, of 50 % at and above P99, else of nothing.
	for i := int64(1000); i >= 1; i-- {
		codec := int64(0)
		if i > 450 && i <= 550 {
			codec = i / 10
		} else if i >= 990 {
			codec = i / 2
		}
		s.Add(i, codec)
	}
	got := s.Lines("x")
	want := []string{
		"LATENCY x count=1000 mean=500.5 min=1 p50=500.0 p90=900.0 p99=990.0 p999=999.0 max=1000",
		"SHARE x codec_mean_ns=10.4 all_pct=2.08 p50_pct=9.91 p99_pct=49.98",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s\nis not %s", got[i], want[i])
		}
	}
}

// script is a connection whose reads return what the test sends.
type script struct {
	net.Conn
}

func (script) Read(b []byte) (int, error)  { return len(b), nil }
func (script) Write(b []byte) (int, error) { return len(b), nil }
func (script) Close() error                { return nil }

func TestARequestGoesFromTheFirstReadToTheLastWrite(t *testing.T) {
	l := NewLog()
	c := l.accepted(script{})
	buf := make([]byte, 8)

	read := func() { _, _ = c.Read(buf) }
	write := func() { _, _ = c.Write(buf) }
	write() // a greeting is no answer
	read()
	read()
	write()
	write()
	if l.Requests.Len() != 0 {
		t.Error("a request has ended before the next one began")
	}
	read()
	c.AddCodec(7)
	if l.Requests.Len() != 1 {
		t.Error("two reads and two writes are not one request")
	}
	write()
	_ = c.Close()
	if l.Requests.Len() != 2 || l.Requests.list[1].codec != 7 || l.Requests.list[0].codec != 0 {
		t.Errorf("the requests are %v", l.Requests.list)
	}
	c = l.accepted(script{})
	read()
	_ = c.Close()
	if l.unanswered.Load() != 1 || l.Requests.Len() != 2 {
		t.Error("a request without an answer is not told apart")
	}
}
