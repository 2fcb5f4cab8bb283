// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package truth

import (
	"fmt"
	"strings"
)

// Doc is one JSON document. Its text is written by hand and not by a codec: a workload makes no
// call of a codec beside those that it counts.
type Doc struct {
	Name  string
	Text  []byte           // as encoding/json writes it
	Value any              // a pointer
	Fresh func() any       // a pointer to an empty value
	Sum   func(any) uint64 // over the fields of a value
}

// Tiny is the smallest object: the codec's fixed cost.
type Tiny struct {
	A int `json:"a"`
}

// Heartbeat is a token of 128 bytes.
type Heartbeat struct {
	Node  string `json:"node"`
	Token string `json:"token"`
	Seq   int    `json:"seq"`
	Time  int    `json:"time"`
	Alive bool   `json:"alive"`
}

// Line is one line of an order.
type Line struct {
	SKU      string   `json:"sku"`
	Title    string   `json:"title"`
	Quantity int      `json:"quantity"`
	Cents    int      `json:"cents"`
	Tags     []string `json:"tags"`
}

// Order is an order of 1.2 KB.
type Order struct {
	ID       int    `json:"id"`
	Customer string `json:"customer"`
	Currency string `json:"currency"`
	Lines    []Line `json:"lines"`
}

// Device is a tree of 8.7 KB.
type Device struct {
	ID       int       `json:"id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	Readings []int     `json:"readings"`
	Children []*Device `json:"children"`
}

// DocNames are the values of -size.
func DocNames() []string {
	return []string{"tiny", "heartbeat", "order", "device"}
}

// NewDoc makes a document; the name is one of DocNames.
func NewDoc(name string) *Doc {
	switch name {
	case "tiny":
		return newTiny()
	case "heartbeat":
		return newHeartbeat()
	case "order":
		return newOrder()
	}
	return newDevice()
}

func newTiny() *Doc {
	return &Doc{
		Name: "tiny", Text: []byte(`{"a":12345}`), Value: &Tiny{12345},
		Fresh: func() any { return new(Tiny) },
		Sum:   func(v any) uint64 { return uint64(v.(*Tiny).A) },
	}
}

func newHeartbeat() *Doc {
	h := &Heartbeat{"node-0017.rack-04", "f3a91c0e77d2440bb6c58a1e9d034b7c21d0e95a8", 9000217, 1700000000123, true}
	text := fmt.Sprintf(`{"node":"%s","token":"%s","seq":%d,"time":%d,"alive":%t}`,
		h.Node, h.Token, h.Seq, h.Time, h.Alive)

	return &Doc{
		Name: "heartbeat", Text: []byte(text), Value: h,
		Fresh: func() any { return new(Heartbeat) },
		Sum: func(v any) uint64 {
			h := v.(*Heartbeat)
			return uint64(len(h.Node) + len(h.Token) + h.Seq + h.Time)
		},
	}
}

func newOrder() *Doc {
	o := &Order{ID: 770021, Customer: "customer-0042", Currency: "EUR"}
	var lines []string

	for i := range 10 {
		l := Line{fmt.Sprintf("SKU-%05d", i*7919), fmt.Sprintf("article number %d of the list", i+100),
			i + 1, 1999 + i*350, []string{"new", "stock"}}
		o.Lines = append(o.Lines, l)
		lines = append(lines, fmt.Sprintf(
			`{"sku":"%s","title":"%s","quantity":%d,"cents":%d,"tags":["%s"]}`,
			l.SKU, l.Title, l.Quantity, l.Cents, strings.Join(l.Tags, `","`)))
	}
	text := fmt.Sprintf(`{"id":%d,"customer":"%s","currency":"%s","lines":[%s]}`,
		o.ID, o.Customer, o.Currency, strings.Join(lines, ","))
	return &Doc{
		Name: "order", Text: []byte(text), Value: o,
		Fresh: func() any { return new(Order) },
		Sum: func(v any) uint64 {
			o := v.(*Order)
			sum := uint64(o.ID + len(o.Customer))
			for _, l := range o.Lines {
				sum = sum*31 + uint64(l.Cents*l.Quantity+len(l.SKU)+len(l.Tags))
			}
			return sum
		},
	}
}

func newDevice() *Doc {
	id := 0
	root, text := newDeviceNode(3, &id)

	return &Doc{
		Name: "device", Text: []byte(text), Value: root,
		Fresh: func() any { return new(Device) },
		Sum:   func(v any) uint64 { return v.(*Device).sum() },
	}
}

func newDeviceNode(levels int, id *int) (*Device, string) {
	*id++
	d := &Device{ID: *id, Name: fmt.Sprintf("device-%04d", *id), Kind: "sensor-hub"}
	var readings, children []string

	for i := range 5 {
		d.Readings = append(d.Readings, *id*100+i)
		readings = append(readings, fmt.Sprint(*id*100+i))
	}
	for range 4 {
		if levels == 0 {
			break
		}
		c, text := newDeviceNode(levels-1, id)
		d.Children = append(d.Children, c)
		children = append(children, text)
	}
	list := "null"
	if children != nil {
		list = "[" + strings.Join(children, ",") + "]"
	}
	return d, fmt.Sprintf(`{"id":%d,"name":"%s","kind":"%s","readings":[%s],"children":%s}`,
		d.ID, d.Name, d.Kind, strings.Join(readings, ","), list)
}

func (d *Device) sum() uint64 {
	s := uint64(d.ID + len(d.Name) + len(d.Kind))
	for _, r := range d.Readings {
		s = s*31 + uint64(r)
	}
	for _, c := range d.Children {
		s = s*31 + c.sum()
	}
	return s
}
