// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package truth

import (
	"encoding/json"
	"math"
	"testing"
)

func TestDocumentsAreWhatTheCodecWritesAndOfTheirSize(t *testing.T) {
	want := map[string]float64{"tiny": 11, "heartbeat": 128, "order": 1200, "device": 8700}

	for _, name := range DocNames() {
		d := NewDoc(name)
		b, err := json.Marshal(d.Value)
		if err != nil || string(b) != string(d.Text) {
			t.Errorf("%s: %v: %s\nis not %s", name, err, b, d.Text)
		}
		if math.Abs(float64(len(d.Text))-want[name]) > want[name]/10 {
			t.Errorf("%s has %d bytes, wanted %v within 10 %%", name, len(d.Text), want[name])
		}
		v := d.Fresh()
		if err := json.Unmarshal(d.Text, v); err != nil || d.Sum(v) != d.Sum(d.Value) {
			t.Errorf("%s: %v: the decoded value has another sum", name, err)
		}
	}
}

func TestBucketsCoverEveryValueOnce(t *testing.T) {
	for _, v := range []uint64{0, 1, 63, 64, 65, 127, 128, 129, 1000, 1 << 20, 1<<40 + 12345, 1 << 62} {
		lower, width := bounds(bucketOf(v))
		if float64(v) < lower || float64(v) >= lower+width {
			t.Errorf("%d is not in [%v, %v)", v, lower, lower+width)
		}
		if width > 1 && width/lower > 1.0/64 {
			t.Errorf("the bucket of %d is %v wide", v, width)
		}
	}
	if bucketOf(math.MaxUint64) != buckets-1 {
		t.Errorf("the last value is in bucket %d of %d", bucketOf(math.MaxUint64), buckets)
	}
}

func TestQuantilesOfARampAreWithinHalfABucket(t *testing.T) {
	var h Hist

	h.min.Store(^uint64(0))
	for v := uint64(1); v <= 100000; v++ {
		h.Add(v)
	}
	for _, p := range []uint64{500, 900, 990, 999} {
		want := float64(p) * 100
		if got := h.Quantile(p); math.Abs(got-want) > want/128 {
			t.Errorf("quantile %d is %v, wanted %v", p, got, want)
		}
	}
	if h.min.Load() != 1 || h.max.Load() != 100000 || h.sum.Load() != 100000*100001/2 {
		t.Errorf("min, max or sum is wrong: %v", &h)
	}
}
