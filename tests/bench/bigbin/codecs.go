// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"

	"github.com/bytedance/sonic"
	"github.com/fxamacker/cbor/v2"
	gojson "github.com/goccy/go-json"
	gogoproto "github.com/gogo/protobuf/proto"
	gogotypes "github.com/gogo/protobuf/types"
	flatbuffers "github.com/google/flatbuffers/go"
	jsoniter "github.com/json-iterator/go"
	"github.com/mailru/easyjson"
	"github.com/minio/simdjson-go"
	segjson "github.com/segmentio/encoding/json"
	"github.com/tinylib/msgp/msgp"
	"github.com/ugorji/go/codec"
	"github.com/vmihailenco/msgpack/v5"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"gopkg.in/yaml.v3"
)

// A pair of functions of one library that go by the shape of encoding/json's.
type pair struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

var pairs = []pair{
	{"encoding/json", json.Marshal, json.Unmarshal},
	{"json-iterator", jsoniter.Marshal, jsoniter.Unmarshal},
	{"sonic", sonic.Marshal, sonic.Unmarshal},
	{"goccy", gojson.Marshal, func(b []byte, v any) error { return gojson.Unmarshal(b, v) }},
	{"segmentio", segjson.Marshal, segjson.Unmarshal},
	{"cbor", cbor.Marshal, cbor.Unmarshal},
	{"msgpack", msgpack.Marshal, msgpack.Unmarshal},
	{"yaml", yaml.Marshal, yaml.Unmarshal},
	{"ugorji json", ugorjiMarshal(&codec.JsonHandle{}), ugorjiUnmarshal(&codec.JsonHandle{})},
	{"ugorji cbor", ugorjiMarshal(&codec.CborHandle{}), ugorjiUnmarshal(&codec.CborHandle{})},
	{"ugorji msgpack", ugorjiMarshal(&codec.MsgpackHandle{}), ugorjiUnmarshal(&codec.MsgpackHandle{})},
	{"ugorji binc", ugorjiMarshal(&codec.BincHandle{}), ugorjiUnmarshal(&codec.BincHandle{})},
	{"ugorji simple", ugorjiMarshal(&codec.SimpleHandle{}), ugorjiUnmarshal(&codec.SimpleHandle{})},
	{"gob", gobMarshal, gobUnmarshal},
}

func ugorjiMarshal(h codec.Handle) func(any) ([]byte, error) {
	return func(v any) ([]byte, error) {
		var out []byte
		err := codec.NewEncoderBytes(&out, h).Encode(v)
		return out, err
	}
}

func ugorjiUnmarshal(h codec.Handle) func([]byte, any) error {
	return func(b []byte, v any) error { return codec.NewDecoderBytes(b, h).Decode(v) }
}

func gobMarshal(v any) ([]byte, error) {
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(v)
	return out.Bytes(), err
}

func gobUnmarshal(b []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(b)).Decode(v)
}

func usePairs(m *heartbeat) error {
	for _, p := range pairs {
		var back heartbeat
		b, err := p.marshal(m)
		if err == nil {
			err = p.unmarshal(b, &back)
		}
		if err == nil && back.ID != m.ID {
			err = fmt.Errorf("decoded something else")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// encoding/xml writes no maps.
type plain struct {
	ID uint64
}

func useXML(m *heartbeat) error {
	b, err := xml.Marshal(plain{m.ID})
	if err != nil {
		return err
	}
	return xml.Unmarshal(b, &plain{})
}

func useProto(m *heartbeat) error {
	s, err := structpb.NewStruct(map[string]any{"id": float64(m.ID), "name": m.Name})
	if err != nil {
		return err
	}
	b, err := proto.Marshal(s)
	if err == nil {
		err = proto.Unmarshal(b, &structpb.Struct{})
	}
	if err != nil {
		return err
	}
	b, err = protojson.Marshal(s)
	if err == nil {
		err = protojson.Unmarshal(b, &structpb.Struct{})
	}
	if err != nil {
		return err
	}
	g := &gogotypes.StringValue{Value: m.Name}
	b, err = gogoproto.Marshal(g)
	if err != nil {
		return err
	}
	return gogoproto.Unmarshal(b, &gogotypes.StringValue{})
}

// The two libraries of generated code are used through a type of their own.
func useGenerated(m *heartbeat) error {
	raw := easyjson.RawMessage(`{"name":"sensor"}`)
	b, err := easyjson.Marshal(&raw)
	if err == nil {
		err = easyjson.Unmarshal(b, &raw)
	}
	if err != nil {
		return err
	}
	n := msgp.Number{}
	n.AsUint(m.ID)
	var out bytes.Buffer
	if err = msgp.Encode(&out, &n); err != nil {
		return err
	}
	return msgp.Decode(&out, &n)
}

func useOthers(m *heartbeat, text []byte) error {
	if simdjson.SupportedCPU() {
		if _, err := simdjson.Parse(text, nil); err != nil {
			return err
		}
	}
	fb := flatbuffers.NewBuilder(0)
	name := fb.CreateString(m.Name)
	fb.StartObject(1)
	fb.PrependUOffsetTSlot(0, name, 0)
	fb.Finish(fb.EndObject())
	return nil
}

// A server is there, as in most programs of this kind, and is not started.
func useServer() *http.Server {
	return &http.Server{Handler: http.FileServer(http.Dir("."))}
}

func useAll(m *heartbeat) error {
	text, err := json.Marshal(m)
	if err == nil {
		err = usePairs(m)
	}
	if err == nil {
		err = useXML(m)
	}
	if err == nil {
		err = useProto(m)
	}
	if err == nil {
		err = useGenerated(m)
	}
	if err == nil {
		err = useOthers(m, text)
	}
	if err == nil {
		err = useServer().Close()
	}
	return err
}
