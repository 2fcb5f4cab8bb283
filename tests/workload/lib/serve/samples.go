// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package serve

import (
	"fmt"
	"slices"
	"sync"
)

type sample struct {
	latency, codec int64
}

// Samples are the requests of a run, each with its latency and the codecs' time in it, in ns. All are
// kept: what is said of them is exact.
type Samples struct {
	mu   sync.Mutex
	list []sample
}

// Add adds a request.
func (s *Samples) Add(latency, codec int64) {
	s.mu.Lock()
	s.list = append(s.list, sample{latency, codec})
	s.mu.Unlock()
}

// Len is their number.
func (s *Samples) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

// rank is the index of a quantile in a sorted list of n.
func rank(n, permille int) int {
	return max((n*permille+999)/1000, 1) - 1
}

// share is the codecs' part of the time of these requests, in percent.
func share(list []sample) float64 {
	var latency, codec int64
	for _, x := range list {
		latency += x.latency
		codec += x.codec
	}
	return 100 * float64(codec) / float64(max(latency, 1))
}

// Lines are LATENCY, and SHARE where a codec's calls could be told which request they belong to. None without
// a request.
func (s *Samples) Lines(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil
	}
	slices.SortFunc(s.list, func(a, b sample) int { return int(a.latency - b.latency) })
	var latency, codec float64
	for _, x := range s.list {
		latency += float64(x.latency)
		codec += float64(x.codec)
	}
	at := func(permille int) float64 { return float64(s.list[rank(n, permille)].latency) }
	lines := []string{
		fmt.Sprintf("LATENCY %s count=%d mean=%.1f min=%d p50=%.1f p90=%.1f p99=%.1f p999=%.1f max=%d",
			name, n, latency/float64(n), s.list[0].latency, at(500), at(900), at(990), at(999),
			s.list[n-1].latency),
	}
	if codec > 0 {
		lines = append(lines, fmt.Sprintf(
			"SHARE %s codec_mean_ns=%.1f all_pct=%.2f p50_pct=%.2f p99_pct=%.2f", name,
			codec/float64(n), share(s.list),
			share(s.list[n*45/100:max(n*55/100, n*45/100+1)]), share(s.list[rank(n, 990):])))
	}
	return lines
}
