// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec that is wrapped
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

const protoPath = "google.golang.org/protobuf/proto"

// call is one RPC, unary or a stream. Only its own goroutine looks at it.
type call struct {
	begin, codec int64
}

type callKey struct{}

// message is a value with the RPC that it belongs to: the codec is told nothing else.
type message struct {
	*structpb.Struct
	call *call
}

// protoCodec is gRPC's own, timed.
type protoCodec struct {
	encoding.CodecV2
	s               *server
	appended, inner *truth.Func
}

// Marshal counts what gRPC's codec calls: small messages and those for a buffer of its pool go through two
// functions, which both end in a third.
func (c protoCodec) Marshal(v any) (data mem.BufferSlice, err error) {
	m := v.(*message)
	size := proto.Size(m.Struct)
	outer := c.appended
	if mem.IsBelowBufferPoolingThreshold(size) {
		outer = c.s.enc
	}
	c.inner.Enter()
	ns, err := c.s.Timed(nil, outer, &size, func() error {
		data, err = c.CodecV2.Marshal(m.Struct)
		return err
	})
	m.call.codec += ns
	c.s.Set.AddChecksum(uint64(size))
	return data, err
}

func (c protoCodec) Unmarshal(data mem.BufferSlice, v any) error {
	size, m := data.Len(), v.(*message)
	ns, err := c.s.Timed(nil, c.s.dec, &size, func() error { return c.CodecV2.Unmarshal(data, m.Struct) })
	m.call.codec += ns
	return err
}

// rpcs is told the beginning and the end of each.
type rpcs struct {
	log   *serve.Log
	group *serve.Samples
}

func (r rpcs) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, callKey{}, &call{begin: truth.Now()})
}

func (r rpcs) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.End); ok {
		c := ctx.Value(callKey{}).(*call)
		ns := truth.Now() - c.begin
		r.log.Handlers.Add(ns, c.codec)
		r.group.Add(ns, c.codec)
	}
}

func (rpcs) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (rpcs) HandleConn(context.Context, stats.ConnStats)                       {}

func newMessage(ctx context.Context) *message {
	return &message{&structpb.Struct{}, ctx.Value(callKey{}).(*call)}
}

func (s *server) beat(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	m := newMessage(ctx)
	if err := decode(m); err != nil {
		return nil, err
	}
	s.Work.Do()
	return m, nil
}

// beats answers each message of a stream before it takes the next one.
func (s *server) beats(_ any, stream grpc.ServerStream) error {
	for {
		m := newMessage(stream.Context())
		if stream.RecvMsg(m) != nil {
			return nil
		}
		s.Work.Do()
		if err := stream.SendMsg(m); err != nil {
			return err
		}
	}
}

var _ proto.Message = (*message)(nil)

func startGRPC(s *server) {
	s.enc = s.Set.Func("protobuf", "encode", protoPath+".MarshalOptions.Marshal")
	codec := protoCodec{encoding.GetCodecV2("proto"), s,
		s.Set.Func("protobuf", "encode", protoPath+".MarshalOptions.MarshalAppend"),
		s.Set.Func("protobuf", "encode", protoPath+".MarshalOptions.marshal")}
	s.dec = s.Set.Func("protobuf", "decode", protoPath+".Unmarshal")
	s.Load, s.Args = "grpcload", []string{"-mode", s.Set.Opt.Mode}
	desc := &grpc.ServiceDesc{
		ServiceName: "heartbeat.Node",
		Methods:     []grpc.MethodDesc{{MethodName: "Beat", Handler: s.beat}},
		Streams: []grpc.StreamDesc{{StreamName: "Beats", Handler: s.beats, ServerStreams: true,
			ClientStreams: true}},
	}
	group := s.Group("google.golang.org/grpc.(*Server).handleStream")
	srv := grpc.NewServer(grpc.StatsHandler(rpcs{s.Log, group}),
		grpc.ForceServerCodecV2(codec))
	srv.RegisterService(desc, nil)
	lis := s.Listen()
	go func() { truth.Fatalf("the server has ended: %v", srv.Serve(lis)) }()
}
