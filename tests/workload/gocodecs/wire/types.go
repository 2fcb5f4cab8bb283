// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Package wire has the documents of hbprof/workload/lib once more, as types that msgp and easyjson
// generate methods for: with those, the originals would be written by them in every other codec.
package wire

//easyjson:json
type Tiny struct {
	A int `json:"a" msg:"a"`
}

//easyjson:json
type Heartbeat struct {
	Node  string `json:"node" msg:"node"`
	Token string `json:"token" msg:"token"`
	Seq   int    `json:"seq" msg:"seq"`
	Time  int    `json:"time" msg:"time"`
	Alive bool   `json:"alive" msg:"alive"`
}

//easyjson:json
type Line struct {
	SKU      string   `json:"sku" msg:"sku"`
	Title    string   `json:"title" msg:"title"`
	Quantity int      `json:"quantity" msg:"quantity"`
	Cents    int      `json:"cents" msg:"cents"`
	Tags     []string `json:"tags" msg:"tags"`
}

//easyjson:json
type Order struct {
	ID       int    `json:"id" msg:"id"`
	Customer string `json:"customer" msg:"customer"`
	Currency string `json:"currency" msg:"currency"`
	Lines    []Line `json:"lines" msg:"lines"`
}

//easyjson:json
type Device struct {
	ID       int       `json:"id" msg:"id"`
	Name     string    `json:"name" msg:"name"`
	Kind     string    `json:"kind" msg:"kind"`
	Readings []int     `json:"readings" msg:"readings"`
	Children []*Device `json:"children" msg:"children"`
}
