// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package truth

import (
	"fmt"
	"math/bits"
	"sync/atomic"
)

const (
	subBits = 6 // 64 buckets an octave; values below 64 have one each
	buckets = 1<<subBits + (64-subBits)<<subBits
)

// Hist is a log-linear histogram. Its arithmetic is written here once more, and not taken from the
// profiler, as it is to judge the profiler. All methods may run at the same time.
type Hist struct {
	n, sum, min, max atomic.Uint64
	bucket           [buckets]atomic.Uint64
}

// NewHist makes an empty one.
func NewHist() *Hist {
	h := &Hist{}
	h.min.Store(^uint64(0))
	return h
}

func bucketOf(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	m := bits.Len64(v) - 1
	return (m-subBits)<<subBits + int(v>>(m-subBits))
}

// bounds are the smallest value of a bucket and its width.
func bounds(b int) (lower, width float64) {
	if b < 2<<subBits {
		return float64(b), 1
	}
	w := uint64(1) << (b>>subBits - 1)
	return float64(uint64(1<<subBits+b&(1<<subBits-1)) * w), float64(w)
}

// Add counts one value.
func (h *Hist) Add(v uint64) {
	h.bucket[bucketOf(v)].Add(1)
	h.n.Add(1)
	h.sum.Add(v)
	raise(&h.max, v)
	for old := h.min.Load(); v < old; old = h.min.Load() {
		if h.min.CompareAndSwap(old, v) {
			break
		}
	}
}

func raise(to *atomic.Uint64, v uint64) {
	for old := to.Load(); v > old; old = to.Load() {
		if to.CompareAndSwap(old, v) {
			return
		}
	}
}

// Quantile takes per mille. The c values of a bucket are taken to stand in the middle of c equal
// parts of it; the result lies between the exact minimum and maximum.
func (h *Hist) Quantile(permille uint64) float64 {
	n := h.n.Load()
	rank := max((n*permille+999)/1000, 1)

	var seen uint64
	for i := range h.bucket {
		c := h.bucket[i].Load()
		if seen+c >= rank {
			lower, width := bounds(i)
			v := lower + width*(float64(rank-seen)-0.5)/float64(c)
			return min(max(v, float64(h.min.Load())), float64(h.max.Load()))
		}
		seen += c
	}
	return float64(h.max.Load())
}

func (h *Hist) String() string {
	n := h.n.Load()
	return fmt.Sprintf("count=%d mean=%.1f min=%d p50=%.1f p90=%.1f p99=%.1f p999=%.1f max=%d",
		n, float64(h.sum.Load())/float64(n), h.min.Load(), h.Quantile(500), h.Quantile(900),
		h.Quantile(990), h.Quantile(999), h.max.Load())
}
