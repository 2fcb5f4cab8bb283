// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"

	truth "hbprof/workload/lib"
)

const codec = "encoding/json"

// The functions of encoding/json. A mode adds those that it calls; types with a MarshalJSON of their
// own have no other way to reach them.
var (
	fnMarshal, fnUnmarshal, fnIndent, fnEncode, fnDecode *truth.Func
)

func (r *run) addMarshal()   { fnMarshal = r.Func(codec, "encode", "encoding/json.Marshal") }
func (r *run) addUnmarshal() { fnUnmarshal = r.Func(codec, "decode", "encoding/json.Unmarshal") }
func (r *run) addIndent()    { fnIndent = r.Func(codec, "encode", "encoding/json.MarshalIndent") }
func (r *run) addEncode()    { fnEncode = r.Func(codec, "encode", "encoding/json.(*Encoder).Encode") }
func (r *run) addDecode()    { fnDecode = r.Func(codec, "decode", "encoding/json.(*Decoder).Decode") }

// marshal makes one timed call. Not inlined: one call site, the same in all modes.
//
//go:noinline
func (w *worker) marshal(v any) []byte {
	fnMarshal.Enter()
	t0 := truth.Now()
	b, err := json.Marshal(v)
	t1 := truth.Now()
	fnMarshal.Return(t1-t0, len(b), err != nil)
	w.sum += truth.Hash(b)
	return b
}

//go:noinline
func (w *worker) unmarshal(text []byte, v any) error {
	fnUnmarshal.Enter()
	t0 := truth.Now()
	err := json.Unmarshal(text, v)
	t1 := truth.Now()
	fnUnmarshal.Return(t1-t0, len(text), err != nil)
	return err
}

//go:noinline
func (w *worker) indent(v any) {
	fnIndent.Enter()
	fnMarshal.Enter() // MarshalIndent calls Marshal, through Go 1.26 at least
	t0 := truth.Now()
	b, err := json.MarshalIndent(v, "", "  ")
	t1 := truth.Now()
	fnIndent.Return(t1-t0, len(b), err != nil)
	w.sum += truth.Hash(b)
}

//go:noinline
func (w *worker) encode(enc *json.Encoder, out *bytes.Buffer, v any) {
	out.Reset()
	fnEncode.Enter()
	t0 := truth.Now()
	err := enc.Encode(v)
	t1 := truth.Now()
	fnEncode.Return(t1-t0, out.Len(), err != nil)
	w.sum += truth.Hash(out.Bytes())
}

//go:noinline
func (w *worker) decode(dec *json.Decoder, size int, v any) {
	fnDecode.Enter()
	t0 := truth.Now()
	err := dec.Decode(v)
	t1 := truth.Now()
	fnDecode.Return(t1-t0, size, err != nil)
	if err != nil {
		truth.Fatalf("Decode failed: %v", err)
	}
}

// checkText ends the workload when the codec does not write what the document says: the sizes
// printed would then be those of something else.
func checkText(d *truth.Doc, b []byte) {
	if !bytes.Equal(b, d.Text) {
		truth.Fatalf("Marshal of %s gave %d bytes, %d expected", d.Name, len(b), len(d.Text))
	}
}

func (w *worker) checkValue(d *truth.Doc, v any) {
	sum := d.Sum(v)
	if sum != d.Sum(d.Value) {
		truth.Fatalf("the value decoded from %s is not the one encoded", d.Name)
	}
	w.sum += sum
}

func runMarshal(r *run) {
	r.addMarshal()
	r.Start()
	r.workers(func(w *worker, _ int) { checkText(r.doc, w.marshal(r.doc.Value)) })
}

func (w *worker) unmarshalDoc(d *truth.Doc) {
	v := d.Fresh()

	if err := w.unmarshal(d.Text, v); err != nil {
		truth.Fatalf("Unmarshal of %s failed: %v", d.Name, err)
	}
	w.checkValue(d, v)
}

func runUnmarshal(r *run) {
	r.addUnmarshal()
	r.Start()
	r.workers(func(w *worker, _ int) { w.unmarshalDoc(r.doc) })
}

func runIndent(r *run) {
	r.addIndent()
	r.addMarshal()
	r.Start()
	r.workers(func(w *worker, _ int) { w.indent(r.doc.Value) })
}

func runEncoder(r *run) {
	r.addEncode()
	r.Start()
	r.workersOf(func() func(*worker, int) {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		return func(w *worker, _ int) { w.encode(enc, &out, r.doc.Value) }
	})
}

// endless repeats a text, one line each.
type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}

func newEndless(text []byte) io.Reader {
	return &endless{line: append(bytes.Clone(text), '\n')}
}

func runDecoder(r *run) {
	r.addDecode()
	r.Start()
	r.workersOf(func() func(*worker, int) {
		dec := json.NewDecoder(newEndless(r.doc.Text))
		return func(w *worker, _ int) {
			v := r.doc.Fresh()
			w.decode(dec, len(r.doc.Text), v)
			w.checkValue(r.doc, v)
		}
	})
}

// runMixed goes through all operations and sizes in turn.
func runMixed(r *run) {
	r.addMarshal()
	r.addUnmarshal()
	r.addIndent()
	r.addEncode()
	r.addDecode()
	var docs []*truth.Doc
	for _, name := range truth.DocNames() {
		docs = append(docs, truth.NewDoc(name))
	}
	r.Start()
	r.workersOf(func() func(*worker, int) {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		decs := make([]*json.Decoder, len(docs))
		for i, d := range docs {
			decs[i] = json.NewDecoder(newEndless(d.Text))
		}
		return func(w *worker, i int) {
			k := i / 5 % len(docs)
			d := docs[k]
			switch i % 5 {
			case 0:
				checkText(d, w.marshal(d.Value))
			case 1:
				w.unmarshalDoc(d)
			case 2:
				w.indent(d.Value)
			case 3:
				w.encode(enc, &out, d.Value)
			case 4:
				v := d.Fresh()
				w.decode(decs[k], len(d.Text), v)
				w.checkValue(d, v)
			}
		}
	})
}

// runDecodeErr breaks every third document: cut off, and of the wrong type.
func runDecodeErr(r *run) {
	r.addUnmarshal()
	cut := r.doc.Text[:len(r.doc.Text)-1]
	wrong := []byte(`["not an object"]`)
	r.Start()
	r.workers(func(w *worker, i int) {
		switch {
		case i%3 != 2:
			w.unmarshalDoc(r.doc)
		case w.unmarshal([][]byte{cut, wrong}[i/3%2], r.doc.Fresh()) == nil:
			truth.Fatalf("a broken document was decoded")
		}
	})
}

// runEncodeErr encodes what cannot be encoded, every third time.
func runEncodeErr(r *run) {
	r.addMarshal()
	bad := []any{make(chan int), []any{1, func() {}}, math.NaN()}
	r.Start()
	r.workers(func(w *worker, i int) {
		switch {
		case i%3 != 2:
			checkText(r.doc, w.marshal(r.doc.Value))
		case w.marshal(bad[i/3%len(bad)]) != nil:
			truth.Fatalf("a value without a JSON form was encoded")
		}
	})
}
