// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Calls of Go libraries with known counts and sizes; the protocol is that of codecs.c.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"github.com/fxamacker/cbor/v2"
	jsoniter "github.com/json-iterator/go"
	"github.com/vmihailenco/msgpack/v5"
)

const rounds = 1000

type item struct {
	ID   int
	Name string
}

type document struct {
	ID    int
	Items []item
}

type codec struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

func (c *codec) run(d *document) {
	var b []byte
	var err error
	for i := range rounds {
		if i == 1 { // where they return to becomes known by the first calls
			time.Sleep(200 * time.Millisecond)
		}
		if b, err = c.marshal(d); err != nil {
			panic(err)
		}
		var out document
		if err = c.unmarshal(b, &out); err != nil {
			panic(err)
		}
	}
	fmt.Printf("CALLED %s encode %d %d\n", c.name, rounds, len(b))
	fmt.Printf("CALLED %s decode %d %d\n", c.name, rounds, len(b))
}

func main() {
	in := bufio.NewReader(os.Stdin)
	d := &document{ID: 7}
	for i := range 20 {
		d.Items = append(d.Items, item{i, "item"})
	}
	fmt.Printf("PID %d\nREADY\n", os.Getpid())
	if _, err := in.ReadByte(); err != nil {
		os.Exit(1)
	}
	for _, c := range []codec{
		{"fxamacker/cbor", cbor.Marshal, cbor.Unmarshal},
		{"jsoniter", jsoniter.Marshal, jsoniter.Unmarshal},
		{"vmihailenco/msgpack", msgpack.Marshal, msgpack.Unmarshal},
	} {
		c.run(d)
	}
	fmt.Println("DONE")
	in.ReadByte()
}
