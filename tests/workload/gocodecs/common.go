// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"encoding/json"

	"github.com/fxamacker/cbor/v2"
	jsoniter "github.com/json-iterator/go"
	"github.com/vmihailenco/msgpack/v5"
	"google.golang.org/protobuf/proto"

	"hbprof/workload/gocodecs/pbgo"
)

const (
	pathCBOR     = "github.com/fxamacker/cbor/v2"
	pathJsoniter = "github.com/json-iterator/go"
	pathMsgpack  = "github.com/vmihailenco/msgpack/v5"
	pathProto    = "google.golang.org/protobuf"
)

var (
	unencodable = func() {}
	pbTypes     = typesOf((*pbgo.Tiny)(nil), (*pbgo.Heartbeat)(nil), (*pbgo.Order)(nil), (*pbgo.Device)(nil))
	badPB       = &pbgo.Heartbeat{Node: "no UTF-8: \xff"}
)

// The quick subset: what make check builds.
func init() {
	apis = append(apis,
		&api{
			codec: stdCodec, mode: "json", bad: unencodable,
			enc:    one(stdCodec + ".Marshal"),
			dec:    one(stdCodec + ".Unmarshal"),
			encode: func(v any) ([]byte, error) { return json.Marshal(v) },
			decode: func(b []byte, v any) error { return json.Unmarshal(b, v) },
		},
		&api{
			codec: "jsoniter", mode: "jsoniter", module: pathJsoniter, bad: unencodable,
			enc:    one(pathJsoniter + ".(*frozenConfig).Marshal"),
			dec:    one(pathJsoniter + ".(*frozenConfig).Unmarshal"),
			encode: func(v any) ([]byte, error) { return jsoniter.Marshal(v) },
			decode: func(b []byte, v any) error { return jsoniter.Unmarshal(b, v) },
		},
		&api{
			codec: "fxamacker/cbor", mode: "cbor", module: pathCBOR, bad: unencodable,
			enc:    one(pathCBOR + ".(*encMode).Marshal"),
			dec:    one(cborDecode(version(pathCBOR))),
			encode: func(v any) ([]byte, error) { return cbor.Marshal(v) },
			decode: func(b []byte, v any) error { return cbor.Unmarshal(b, v) },
		},
		&api{
			codec: "vmihailenco/msgpack", mode: "msgpack", module: pathMsgpack, bad: unencodable,
			enc:    one(pathMsgpack+".Marshal", pathMsgpack+".(*Encoder).Encode"),
			dec:    one(pathMsgpack+".Unmarshal", pathMsgpack+".(*Decoder).Decode"),
			encode: func(v any) ([]byte, error) { return msgpack.Marshal(v) },
			decode: func(b []byte, v any) error { return msgpack.Unmarshal(b, v) },
		},
		&api{
			codec: "protobuf", mode: "protobuf", module: pathProto, types: pbTypes, bad: badPB,
			enc:    one(pathProto+"/proto.Marshal", pathProto+"/proto.MarshalOptions.marshal"),
			dec:    one(pathProto + "/proto.Unmarshal"),
			encode: func(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) },
			decode: func(b []byte, v any) error { return proto.Unmarshal(b, v.(proto.Message)) },
		},
	)
}

// cborDecode is the function that is called: before 2.5 compilers inline all above it.
func cborDecode(version string) string {
	if version == "v2.4.0" {
		return pathCBOR + ".(*decoder).value"
	}
	return pathCBOR + ".(*decMode).Unmarshal"
}
