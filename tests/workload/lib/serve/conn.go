// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package serve

import (
	"net"
	"sync"

	truth "hbprof/workload/lib"
)

// Conn is a server's connection that keeps the truth of its requests, as they are seen from outside of
// the process: one begins when a read first returns data after a response, and ends with the last
// write before the next such read. Times are taken behind the system calls.
type Conn struct {
	net.Conn
	log *Log

	mu    sync.Mutex
	nr    int  // of the request, to know at a write's return whether it is still the same one
	open  bool // data was read that belongs to no finished request
	wrote bool // and something was written since
	first int64
	last  int64
	codec int64
}

// Read may run in another goroutine than the handler: net/http reads a byte ahead.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		now := truth.Now()
		c.log.bytesIn.Add(uint64(n))
		c.mu.Lock()
		if c.wrote {
			c.finish()
		}
		if !c.open {
			c.open, c.first = true, now
			c.nr++
		}
		c.mu.Unlock()
	}
	return n, err
}

// Write counts as done at its beginning, should the client's next request overtake its return.
func (c *Conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	nr := c.nr
	c.wrote, c.last = c.open, truth.Now()
	c.mu.Unlock()
	n, err := c.Conn.Write(b)
	now := truth.Now()
	c.log.bytesOut.Add(uint64(n))
	c.mu.Lock()
	if c.nr == nr {
		c.last = now
	}
	c.mu.Unlock()
	return n, err
}

// Close ends what is open: without a write it has no latency, and is counted as unanswered.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.wrote {
		c.finish()
	} else if c.open {
		c.open = false
		c.log.unanswered.Add(1)
	}
	c.mu.Unlock()
	c.log.closed(c)
	return c.Conn.Close()
}

// finish is called with the lock held.
func (c *Conn) finish() {
	c.log.Requests.Add(c.last-c.first, c.codec)
	c.open, c.wrote, c.codec = false, false, 0
}

// AddCodec is time that a codec has taken for the request that is open.
func (c *Conn) AddCodec(ns int64) {
	c.mu.Lock()
	c.codec += ns
	c.mu.Unlock()
}
