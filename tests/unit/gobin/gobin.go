// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// A program for the tests of user/sym to read; it is built in many ways by gobins.sh and never run.
// It calls what the registry looks for, and has names that are hard to read.
package main

import (
	"bytes"
	"encoding/json"
	"os"
)

type doc struct {
	Name string
	List []float64
}

type named struct{ doc }

// MarshalJSON has a pointer wrapper, which the compiler makes: (*named).MarshalJSON.
func (n named) MarshalJSON() ([]byte, error) { return json.Marshal(n.doc) }

//go:noinline
func generic[T any](v T) int {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return 0
	}
	return len(b)
}

func main() {
	var d doc
	var out bytes.Buffer

	if json.Unmarshal([]byte(`{"Name":"x"}`), &d) != nil || !json.Valid([]byte("{}")) {
		os.Exit(1)
	}
	if json.NewDecoder(os.Stdin).Decode(&d) != nil {
		os.Exit(1)
	}
	if json.Compact(&out, []byte("{ }")) != nil || json.Indent(&out, []byte("{}"), "", " ") != nil {
		os.Exit(1)
	}
	if json.NewEncoder(os.Stdout).Encode(named{d}) != nil {
		os.Exit(1)
	}
	os.Exit(generic(struct {
		A int `json:"a=b"`
	}{1}) + len(os.Args))
}
