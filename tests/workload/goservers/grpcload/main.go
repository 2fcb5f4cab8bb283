// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Command grpcload asks the gRPC server of goservers an exact number of times, with goload's flags. What it
// sends is encoded once and what it gets stays bytes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	truth "hbprof/workload/lib"
)

const (
	unary     = "/heartbeat.Node/Beat"
	streaming = "/heartbeat.Node/Beats"
	tailEvery = 50
)

var (
	addr  = flag.String("addr", "", "HOST:PORT, or @NAME of a unix socket")
	mode  = flag.String("mode", "grpc", "grpc: a call for each request; grpcstream: one stream a connection")
	n     = flag.Int("n", 1000, "requests over all connections")
	conns = flag.Int("g", 1, "connections")
	rate  = flag.Float64("rate", 0, "requests a second over all connections (0: flat out)")
	size  = flag.String("size", "heartbeat", "document: "+strings.Join(truth.DocNames(), ", "))
	tail  = flag.Bool("tail", false, "every 50th request of a connection has the largest document")
	_     = flag.Bool("short", false, "not for gRPC")
)

// raw is a codec that does nothing.
type raw struct{}

func (raw) Name() string { return "proto" }
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func encoded(name string) []byte {
	var fields map[string]any

	if err := json.Unmarshal(truth.NewDoc(name).Text, &fields); err != nil {
		truth.Fatalf("%v", err)
	}
	m, err := structpb.NewStruct(fields)
	if err != nil {
		truth.Fatalf("%v", err)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		truth.Fatalf("%v", err)
	}
	return b
}

type client struct {
	conn       *grpc.ClientConn
	small, big []byte
	answers    *truth.Hist
}

// ask sends the i-th request by a way that leaves the answer in the second argument.
func (c *client) ask(i int, send func(in, out *[]byte) error) {
	var out []byte

	in := c.small
	if *tail && i%tailEvery == tailEvery-1 {
		in = c.big
	}
	t0 := truth.Now()
	err := send(&in, &out)
	c.answers.Add(uint64(truth.Now() - t0))
	if err != nil || len(out) != len(in) {
		truth.Fatalf("%d bytes of %d came back: %v", len(out), len(in), err)
	}
}

func (c *client) calls(n int) {
	p := truth.NewPacer(*rate, *conns)
	for i := range n {
		p.Wait()
		c.ask(i, func(in, out *[]byte) error { return c.conn.Invoke(context.Background(), unary, in, out) })
	}
}

func (c *client) stream(n int) {
	desc := &grpc.StreamDesc{StreamName: "Beats", ServerStreams: true, ClientStreams: true}
	s, err := c.conn.NewStream(context.Background(), desc, streaming)
	if err != nil {
		truth.Fatalf("no stream: %v", err)
	}
	p := truth.NewPacer(*rate, *conns)
	for i := range n {
		p.Wait()
		c.ask(i, func(in, out *[]byte) error {
			if err := s.SendMsg(in); err != nil {
				return err
			}
			return s.RecvMsg(out)
		})
	}
	var out []byte
	if err := s.CloseSend(); err != nil {
		truth.Fatalf("cannot end the stream: %v", err)
	}
	_ = s.RecvMsg(&out) // the end
}

func (c *client) run(n int) {
	if *mode == "grpcstream" {
		c.stream(n)
	} else {
		c.calls(n)
	}
	c.conn.Close()
}

func dial() *grpc.ClientConn {
	target := "passthrough:" + *addr
	if name, ok := strings.CutPrefix(*addr, "@"); ok {
		target = "unix-abstract:" + name
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})))
	if err != nil {
		truth.Fatalf("cannot connect to %s: %v", *addr, err)
	}
	return conn
}

func main() {
	flag.Parse()
	if *addr == "" || *n < 1 || *conns < 1 || *conns > *n || flag.NArg() > 0 {
		truth.Fatalf("wrong usage: -addr is needed, and no more connections than requests")
	}
	small, big, answers := encoded(*size), encoded("device"), truth.NewHist()
	var all sync.WaitGroup
	t0 := truth.Now()
	for i := range *conns {
		share := *n / *conns
		if i < *n%*conns {
			share++
		}
		c := client{dial(), small, big, answers}
		all.Add(1)
		go func() {
			defer all.Done()
			c.run(share)
		}()
	}
	all.Wait()
	fmt.Printf("LOAD requests=%d connections=%d\nLATENCY client %s\n", *n, *conns, answers.String())
	fmt.Printf("RATE client per_s=%.1f\n", float64(*n)*1e9/float64(truth.Now()-t0))
}
