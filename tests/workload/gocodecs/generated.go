// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build !quick

package main

import (
	"reflect"

	gogoproto "github.com/gogo/protobuf/proto"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/mailru/easyjson"
	"github.com/tinylib/msgp/msgp"

	pbgogo "hbprof/workload/gocodecs/pbgogo"
	"hbprof/workload/gocodecs/wire"
)

const (
	pathEasyjson = "github.com/mailru/easyjson"
	pathFlat     = "github.com/google/flatbuffers"
	pathGogo     = "github.com/gogo/protobuf"
	pathMsgp     = "github.com/tinylib/msgp"
	pathVT       = "github.com/planetscale/vtprotobuf"
	here         = "hbprof/workload/gocodecs/"
	easyDecode   = here + "wire.easyjson6601e8cdDecodeHbprofWorkloadGocodecsWire"
)

var (
	wireTypes = typesOf((*wire.Tiny)(nil), (*wire.Heartbeat)(nil), (*wire.Order)(nil), (*wire.Device)(nil))
	gogoTypes = typesOf((*pbgogo.Tiny)(nil), (*pbgogo.Heartbeat)(nil), (*pbgogo.Order)(nil), (*pbgogo.Device)(nil))
)

// only is for a function that one document reaches.
func only(doc string, entries int) func(string) int {
	return func(d string) int {
		if d == doc {
			return entries
		}
		return 0
	}
}

type vtMessage interface {
	MarshalVT() ([]byte, error)
	UnmarshalVT([]byte) error
}

type gogoMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// Methods that generators made. Those of nested messages are called for each of these.
func init() {
	apis = append(apis,
		&api{
			codec: "easyjson", mode: "easyjson", module: pathEasyjson, types: wireTypes,
			enc: one(pathEasyjson + ".Marshal"),
			dec: []inner{
				{easyDecode + "4", only("device", 85)}, {easyDecode + "3", only("heartbeat", 1)},
				{easyDecode + "1", only("order", 1)}, {easyDecode + "2", lines}, {easyDecode, only("tiny", 1)},
			},
			encode: func(v any) ([]byte, error) { return easyjson.Marshal(v.(easyjson.Marshaler)) },
			decode: func(b []byte, v any) error { return easyjson.Unmarshal(b, v.(easyjson.Unmarshaler)) },
		},
		&api{
			codec: "tinylib/msgp", mode: "msgp", module: pathMsgp, types: wireTypes,
			enc:    []inner{{here + "wire.(*{T}).MarshalMsg", nodes}, {here + "wire.(*Line).MarshalMsg", lines}},
			dec:    []inner{{here + "wire.(*{T}).UnmarshalMsg", nodes}, {here + "wire.(*Line).UnmarshalMsg", lines}},
			encode: func(v any) ([]byte, error) { return v.(msgp.Marshaler).MarshalMsg(nil) },
			decode: func(b []byte, v any) error {
				_, err := v.(msgp.Unmarshaler).UnmarshalMsg(b)
				return err
			},
		},
		&api{
			codec: "vtprotobuf", mode: "vtprotobuf", module: pathVT, types: pbTypes,
			enc:    one(here + "pbgo.(*{T}).MarshalVT"),
			dec:    []inner{{here + "pbgo.(*{T}).UnmarshalVT", nodes}, {here + "pbgo.(*Line).UnmarshalVT", lines}},
			encode: func(v any) ([]byte, error) { return v.(vtMessage).MarshalVT() },
			decode: func(b []byte, v any) error { return v.(vtMessage).UnmarshalVT(b) },
		},
		&api{
			codec: "gogo/protobuf", mode: "gogo", module: pathGogo, types: gogoTypes,
			enc:    one(here + "pbgogo.(*{T}).Marshal"),
			dec:    []inner{{here + "pbgogo.(*{T}).Unmarshal", nodes}, {here + "pbgogo.(*Line).Unmarshal", lines}},
			encode: func(v any) ([]byte, error) { return v.(gogoMessage).Marshal() },
			decode: func(b []byte, v any) error { return v.(gogoMessage).Unmarshal(b) },
		},
		&api{
			codec: "gogo/protobuf", mode: "gogo-proto", module: pathGogo, types: gogoTypes,
			enc:    one(pathGogo + "/proto.Marshal"),
			dec:    one(pathGogo + "/proto.Unmarshal"),
			encode: func(v any) ([]byte, error) { return gogoproto.Marshal(v.(gogoproto.Message)) },
			decode: func(b []byte, v any) error { return gogoproto.Unmarshal(b, v.(gogoproto.Message)) },
		},
		&api{
			codec: "flatbuffers", mode: "flatbuffers", module: pathFlat,
			enc: one(pathFlat + "/go.(*Builder).finish"), encode: flatEncode,
		},
	)
}

// flatEncode builds the whole document: flatbuffers has no call that encodes a message, only the end of
// its build.
func flatEncode(v any) ([]byte, error) {
	b := flatbuffers.NewBuilder(256)
	b.Finish(flatTable(b, reflect.ValueOf(v).Elem()))
	return b.FinishedBytes(), nil
}

// flatTable builds what a field refers to before the table that has the field, as it has to be.
func flatTable(b *flatbuffers.Builder, v reflect.Value) flatbuffers.UOffsetT {
	refs := make([]flatbuffers.UOffsetT, v.NumField())
	for i := range refs {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			refs[i] = b.CreateString(f.String())
		case reflect.Slice:
			refs[i] = flatVector(b, f)
		}
	}
	b.StartObject(v.NumField())
	for i, ref := range refs {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int:
			b.PrependInt64Slot(i, f.Int(), 0)
		case reflect.Bool:
			b.PrependBoolSlot(i, f.Bool(), false)
		default:
			b.PrependUOffsetTSlot(i, ref, 0)
		}
	}
	return b.EndObject()
}

func flatVector(b *flatbuffers.Builder, v reflect.Value) flatbuffers.UOffsetT {
	if v.Type().Elem().Kind() == reflect.Int {
		b.StartVector(8, v.Len(), 8)
		for i := v.Len() - 1; i >= 0; i-- {
			b.PrependInt64(v.Index(i).Int())
		}
		return b.EndVector(v.Len())
	}
	refs := make([]flatbuffers.UOffsetT, v.Len())
	for i := range refs {
		switch e := reflect.Indirect(v.Index(i)); e.Kind() {
		case reflect.String:
			refs[i] = b.CreateString(e.String())
		default:
			refs[i] = flatTable(b, e)
		}
	}
	b.StartVector(4, v.Len(), 4)
	for i := v.Len() - 1; i >= 0; i-- {
		b.PrependUOffsetT(refs[i])
	}
	return b.EndVector(v.Len())
}
