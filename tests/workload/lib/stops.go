// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package truth

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
)

// The runtime's own count of how often it has stopped the world (runtime/metrics, Go 1.22): the first two
// from when it asks goroutines to stop until they run again, or, after the mark termination of the
// garbage collector, until it is about to let them; the others until they stand still.
var stopMetrics = []string{
	"/sched/pauses/total/gc:seconds", "/sched/pauses/total/other:seconds",
	"/sched/pauses/stopping/gc:seconds", "/sched/pauses/stopping/other:seconds",
}

// stops are two sums of such histograms. What a bucket holds is known to its bounds.
type stops struct {
	n      [2]uint64
	lo, hi [2]float64 // ns
}

// readStops does not stop the world itself.
func readStops() stops {
	var s stops
	sample := make([]metrics.Sample, len(stopMetrics))
	for i, name := range stopMetrics {
		sample[i].Name = name
	}
	metrics.Read(sample)
	for i := range sample {
		if sample[i].Value.Kind() != metrics.KindFloat64Histogram {
			Fatalf("this Go does not know %s", stopMetrics[i])
		}
		h := sample[i].Value.Float64Histogram()
		for k, n := range h.Counts {
			if n == 0 {
				continue
			}
			s.n[i/2] += n
			s.lo[i/2] += float64(n) * 1e9 * math.Max(h.Buckets[k], 0)
			s.hi[i/2] += float64(n) * 1e9 * h.Buckets[k+1]
		}
	}
	return s
}

// CountStops has the stops of the world between Start and Finish told in a line, STOPS. From here on the
// garbage collector runs when it is called and not by itself.
func (s *Set) CountStops() {
	s.stops = &stops{}
	debug.SetGCPercent(-1)
}

func (s *Set) noteStops() {
	b, e := s.stops, readStops()
	s.Notef("STOPS count=%d lo_ns=%.0f hi_ns=%.0f stopping=%d stopping_lo_ns=%.0f stopping_hi_ns=%.0f",
		e.n[0]-b.n[0], e.lo[0]-b.lo[0], e.hi[0]-b.hi[0],
		e.n[1]-b.n[1], e.lo[1]-b.lo[1], e.hi[1]-b.hi[1])
}
