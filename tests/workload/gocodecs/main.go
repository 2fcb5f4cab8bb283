// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command gocodecs calls the Go codecs that hbprof knows, each in modes of its own: CODEC-encode,
// CODEC-decode, and with -err what every third call of fails. All get the documents of the truth
// package, some in types of their own. This file has the run; the codecs are in the other files.
//
// Before READY each function is called once: decoders need what the encoder makes, and the first call
// of many codecs builds tables. So these are for attaching to, and not for hbprof run.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	truth "hbprof/workload/lib"
)

// inner is one function that a call goes through, and how often it is entered in one call, by the
// name of the document. {T} in the name is the document's type.
type inner struct {
	name    string
	entries func(doc string) int
}

// api is a codec's encoder and decoder that belong together. The first of the functions is the
// outermost one.
type api struct {
	codec, mode, module string

	enc, dec []inner
	encode   func(v any) ([]byte, error)
	decode   func(b []byte, v any) error

	types    types  // nil: the documents' own
	bad      any    // what cannot be encoded, nil where there is no such thing
	spoil    string // what makes a document one that cannot be decoded; mostly it is cut off
	jsonText bool   // the decoder takes the JSON text, and makes no value that can be compared
}

var apis []*api

func each(string) int { return 1 }

// nodes is for what is called for each node of a device tree: 1 + 4 + 16 + 64.
func nodes(doc string) int {
	if doc == "device" {
		return 85
	}
	return 1
}

// lines is for what is called for each of an order's lines.
func lines(doc string) int {
	if doc == "order" {
		return 10
	}
	return 0
}

func one(names ...string) []inner {
	var list []inner
	for _, n := range names {
		list = append(list, inner{n, each})
	}
	return list
}

// version is the one in the build info; the standard library's is that of the toolchain.
func version(module string) string {
	if module == "" {
		return runtime.Version()
	}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return d.Version
			}
		}
	}
	truth.Fatalf("no module %s in the build info", module)
	return ""
}

func typeName(doc string) string {
	return strings.ToUpper(doc[:1]) + doc[1:]
}

// counters makes the functions of one operation, those that this document does not reach left out. Where
// calls fail it makes only the outermost one: they may end before they reach the others.
func counters(set *truth.Set, a *api, op string, list []inner, doc string, errs bool) (fs []*truth.Func, n []int) {
	for _, in := range list {
		if errs && len(fs) > 0 {
			break
		}
		if k := in.entries(doc); k > 0 {
			if errs && k > 1 {
				truth.Fatalf("%s fails inside of a recursion: use another -size", a.mode)
			}
			name := strings.ReplaceAll(in.name, "{T}", typeName(doc))
			fs = append(fs, set.Func(a.codec, op, name))
			n = append(n, k)
		}
	}
	return fs, n
}

// job is one mode, ready to run.
type job struct {
	set    *truth.Set
	doc    *truth.Doc
	api    *api
	value  any
	fresh  func() any
	text   []byte // what is decoded
	broken []byte
	errs   bool

	funcs   []*truth.Func
	entries []int
}

// enter counts the entries of one call.
func (j *job) enter() {
	for i, f := range j.funcs {
		for range j.entries[i] {
			f.Enter()
		}
	}
}

//go:noinline
func (j *job) encodeOne(v any) ([]byte, error) {
	j.enter()
	t0 := truth.Now()
	b, err := j.api.encode(v)
	t1 := truth.Now()
	j.funcs[0].Return(t1-t0, len(b), err != nil)
	return b, err
}

//go:noinline
func (j *job) decodeOne(b []byte, v any) error {
	size := len(b)
	j.enter()
	t0 := truth.Now()
	err := j.api.decode(b, v)
	t1 := truth.Now()
	j.funcs[0].Return(t1-t0, size, err != nil)
	return err
}

// settle gives the profiler the time to learn a return address that no call instruction names: it is
// found by the first call.
func settle(i int) {
	if i == 1 {
		time.Sleep(200 * time.Millisecond)
	}
}

func (j *job) encodeAll() {
	var sum uint64
	for i := range j.set.Opt.N {
		settle(i)
		if j.errs && i%3 == 2 {
			if _, err := j.encodeOne(j.api.bad); err == nil {
				truth.Fatalf("%s encoded what it cannot", j.api.mode)
			}
			continue
		}
		b, err := j.encodeOne(j.value)
		if err != nil {
			truth.Fatalf("%s: %v", j.api.mode, err)
		}
		sum += uint64(len(b))
	}
	j.set.AddChecksum(sum)
}

func (j *job) decodeAll() {
	var sum uint64
	for i := range j.set.Opt.N {
		settle(i)
		v := j.fresh()
		if j.errs && i%3 == 2 {
			if err := j.decodeOne(j.broken, v); err == nil {
				truth.Fatalf("%s decoded a broken document", j.api.mode)
			}
			continue
		}
		if err := j.decodeOne(j.text, v); err != nil {
			truth.Fatalf("%s: %v", j.api.mode, err)
		}
		sum += j.checkDecoded(v)
	}
	j.set.AddChecksum(sum)
}

func (j *job) checkDecoded(v any) uint64 {
	if j.api.jsonText {
		return uint64(len(j.text))
	}
	back := j.doc.Fresh()
	convert(back, v)
	sum := j.doc.Sum(back)
	if sum != j.doc.Sum(j.doc.Value) {
		truth.Fatalf("%s: the decoded value is not the one that was encoded", j.api.mode)
	}
	return sum
}

// prepare makes the call of each function that comes before READY.
func (j *job) prepare() {
	a := j.api
	if a.types != nil {
		j.value, j.fresh = a.types(j.doc)
	}
	j.text = j.doc.Text
	if a.encode != nil && !a.jsonText {
		b, err := a.encode(j.value)
		if err != nil {
			truth.Fatalf("%s: %v", a.mode, err)
		}
		j.text = slices.Clone(b)
	}
	j.broken = slices.Clone(j.text[:len(j.text)-len(j.text)/3])
	if a.spoil != "" {
		j.broken = append(slices.Clone(j.text), a.spoil...)
	}
	if a.decode == nil {
		return
	}
	v := j.fresh()
	if err := a.decode(j.text, v); err != nil {
		truth.Fatalf("%s: %v", a.mode, err)
	}
	j.checkDecoded(v)
}

func (j *job) run(op string) {
	list := j.api.enc
	if op == "decode" {
		list = j.api.dec
	}
	j.prepare()
	j.funcs, j.entries = counters(j.set, j.api, op, list, j.doc.Name, j.errs)
	j.set.Notef("LIBRARY %s %s", j.api.codec, version(j.api.module))
	j.set.Start()
	if op == "encode" {
		j.encodeAll()
	} else {
		j.decodeAll()
	}
	j.set.Finish()
}

// operations are the modes of one api, by their last part.
func (a *api) operations() (ops []string) {
	if a.enc != nil {
		ops = append(ops, "encode")
		if a.bad != nil {
			ops = append(ops, "encodeerr")
		}
	}
	if a.dec != nil {
		ops = append(ops, "decode")
		if !strings.HasSuffix(a.mode, "stream") {
			ops = append(ops, "decodeerr")
		}
	}
	return ops
}

func main() {
	var names []string
	for _, a := range apis {
		for _, op := range a.operations() {
			names = append(names, a.mode+"-"+op)
		}
	}
	if len(os.Args) == 2 && os.Args[1] == "-modes" {
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	for name := range storms {
		names = append(names, name)
	}
	opt := truth.Parse(names)
	if run := storms[opt.Mode]; run != nil {
		run(truth.NewSet(opt))
		return
	}
	for _, a := range apis {
		for _, op := range a.operations() {
			if opt.Mode != a.mode+"-"+op {
				continue
			}
			doc := truth.NewDoc(opt.Size)
			j := &job{set: truth.NewSet(opt), doc: doc, api: a, value: doc.Value, fresh: doc.Fresh}
			j.errs = strings.HasSuffix(op, "err")
			j.run(strings.TrimSuffix(op, "err"))
		}
	}
}
