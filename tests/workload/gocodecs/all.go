// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build !quick

package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"

	"github.com/bytedance/sonic"
	gojson "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	"github.com/minio/simdjson-go"
	segjson "github.com/segmentio/encoding/json"
	"github.com/ugorji/go/codec"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"gopkg.in/yaml.v3"
)

const (
	pathSonic     = "github.com/bytedance/sonic"
	pathGoccy     = "github.com/goccy/go-json"
	pathSegmentio = "github.com/segmentio/encoding"
	pathSimdjson  = "github.com/minio/simdjson-go"
	pathUgorji    = "github.com/ugorji/go/codec"
	pathYAML      = "gopkg.in/yaml.v3"
)

// What has the shape of encoding/json.
func init() {
	apis = append(apis,
		&api{
			codec: "encoding/xml", mode: "xml", bad: unencodable,
			enc:    one("encoding/xml.Marshal", "encoding/xml.(*Encoder).Encode"),
			dec:    one("encoding/xml.Unmarshal", "encoding/xml.(*Decoder).DecodeElement"),
			encode: func(v any) ([]byte, error) { return xml.Marshal(v) },
			decode: func(b []byte, v any) error { return xml.Unmarshal(b, v) },
		},
		&api{
			codec: "sonic", mode: "sonic", module: pathSonic, bad: unencodable,
			enc: one(pathSonic+".(*frozenConfig).Marshal", pathSonic+"/internal/encoder.Encode"),
			dec: one(pathSonic+".(*frozenConfig).Unmarshal",
				pathSonic+".frozenConfig.UnmarshalFromString"),
			encode: func(v any) ([]byte, error) { return sonic.Marshal(v) },
			decode: func(b []byte, v any) error { return sonic.Unmarshal(b, v) },
		},
		&api{
			codec: "goccy/go-json", mode: "goccy", module: pathGoccy, bad: unencodable,
			enc: one(pathGoccy+".Marshal", pathGoccy+".marshal"), dec: one(pathGoccy + ".unmarshal"),
			encode: func(v any) ([]byte, error) { return gojson.Marshal(v) },
			decode: func(b []byte, v any) error { return gojson.Unmarshal(b, v) },
		},
		&api{
			codec: "segmentio/json", mode: "segmentio", module: pathSegmentio, bad: unencodable,
			enc: one(pathSegmentio + "/json.Marshal"), dec: one(pathSegmentio + "/json.Unmarshal"),
			encode: func(v any) ([]byte, error) { return segjson.Marshal(v) },
			decode: func(b []byte, v any) error { return segjson.Unmarshal(b, v) },
		},
		&api{
			codec: "yaml.v3", mode: "yaml", module: pathYAML, spoil: "]: [{",
			enc: one("gopkg.in/yaml%2ev3.Marshal"), dec: one("gopkg.in/yaml%2ev3.unmarshal"),
			encode: func(v any) ([]byte, error) { return yaml.Marshal(v) },
			decode: func(b []byte, v any) error { return yaml.Unmarshal(b, v) },
		},
	)
}

// refusing fails to be encoded by whatever asks the value itself.
type refusing struct{}

var errRefused = errors.New("refused")

func (refusing) MarshalBinary() ([]byte, error) { return nil, errRefused }
func (refusing) MarshalText() ([]byte, error)   { return nil, errRefused }
func (refusing) MarshalJSON() ([]byte, error)   { return nil, errRefused }
func (refusing) UnmarshalBinary([]byte) error   { return errRefused }
func (refusing) UnmarshalText([]byte) error     { return errRefused }
func (refusing) UnmarshalJSON([]byte) error     { return errRefused }

func ugorji(format, symbol string, h codec.Handle) *api {
	return &api{
		codec: "ugorji", mode: "ugorji-" + format, module: pathUgorji, bad: new(refusing),
		enc: one(pathUgorji + ".(*encoder" + symbol + "Bytes).Encode"),
		dec: one(pathUgorji + ".(*decoder" + symbol + "Bytes).Decode"),
		encode: func(v any) (out []byte, err error) {
			err = codec.NewEncoderBytes(&out, h).Encode(v)
			return out, err
		},
		decode: func(b []byte, v any) error { return codec.NewDecoderBytes(b, h).Decode(v) },
	}
}

// What has another shape.
func init() {
	var parsed *simdjson.ParsedJson

	apis = append(apis,
		ugorji("json", "Json", new(codec.JsonHandle)),
		ugorji("msgpack", "Msgpack", new(codec.MsgpackHandle)),
		ugorji("cbor", "Cbor", new(codec.CborHandle)),
		&api{
			codec: "simdjson-go", mode: "simdjson", module: pathSimdjson, jsonText: true,
			dec: one(pathSimdjson + ".Parse"),
			decode: func(b []byte, _ any) (err error) {
				parsed, err = simdjson.Parse(b, parsed)
				return err
			},
		},
		&api{
			codec: "protobuf", mode: "protobuf-options", module: pathProto, types: pbTypes, bad: badPB,
			enc: one(pathProto+"/proto.MarshalOptions.Marshal", pathProto+"/proto.MarshalOptions.marshal"),
			dec: one(pathProto + "/proto.UnmarshalOptions.Unmarshal"),
			encode: func(v any) ([]byte, error) {
				return proto.MarshalOptions{Deterministic: true}.Marshal(v.(proto.Message))
			},
			decode: func(b []byte, v any) error {
				return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, v.(proto.Message))
			},
		},
		&api{
			codec: "protojson", mode: "protojson", module: pathProto, types: pbTypes, bad: badPB,
			enc:    one(pathProto + "/encoding/protojson.Marshal"),
			dec:    one(pathProto + "/encoding/protojson.UnmarshalOptions.unmarshal"),
			encode: func(v any) ([]byte, error) { return protojson.Marshal(v.(proto.Message)) },
			decode: func(b []byte, v any) error { return protojson.Unmarshal(b, v.(proto.Message)) },
		},
	)
}

// gobStream is one encoder and one decoder for all calls: only the first message has the types.
type gobStream struct {
	enc     *gob.Encoder
	dec     *gob.Decoder
	out, in bytes.Buffer
	later   []byte
}

var oneGob gobStream

func (s *gobStream) encode(v any) ([]byte, error) {
	if s.enc == nil {
		s.enc = gob.NewEncoder(&s.out)
	}
	s.out.Reset()
	err := s.enc.Encode(v)
	return s.out.Bytes(), err
}

// decode takes what encode has made first, and makes a later message of it.
func (s *gobStream) decode(b []byte, v any) error {
	if s.dec != nil {
		b = s.later
	}
	s.in.Write(b)
	if s.dec == nil {
		s.dec = gob.NewDecoder(&s.in)
		defer func() {
			out, _ := s.encode(v)
			s.later = bytes.Clone(out)
		}()
	}
	return s.dec.Decode(v)
}

// Streams. Their sizes stand in no register.
func init() {
	apis = append(apis,
		&api{
			codec: "encoding/gob", mode: "gob", bad: unencodable,
			enc: one("encoding/gob.(*Encoder).Encode"), dec: one("encoding/gob.(*Decoder).Decode"),
			encode: func(v any) ([]byte, error) {
				var out bytes.Buffer
				err := gob.NewEncoder(&out).Encode(v)
				return out.Bytes(), err
			},
			decode: func(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) },
		},
		&api{
			codec: "encoding/gob", mode: "gob-stream",
			enc: one("encoding/gob.(*Encoder).Encode"), dec: one("encoding/gob.(*Decoder).Decode"),
			encode: oneGob.encode, decode: oneGob.decode,
		},
		&api{
			codec: "encoding/json", mode: "json-stream",
			enc: one("encoding/json.(*Encoder).Encode"), dec: one("encoding/json.(*Decoder).Decode"),
			encode: func(v any) ([]byte, error) {
				var out bytes.Buffer
				err := json.NewEncoder(&out).Encode(v)
				return out.Bytes(), err
			},
			decode: func(b []byte, v any) error { return json.NewDecoder(bytes.NewReader(b)).Decode(v) },
		},
		&api{
			codec: "jsoniter", mode: "jsoniter-stream", module: pathJsoniter,
			enc: one(pathJsoniter + ".(*Encoder).Encode"), dec: one(pathJsoniter + ".(*Decoder).Decode"),
			encode: func(v any) ([]byte, error) {
				var out bytes.Buffer
				err := jsoniter.NewEncoder(&out).Encode(v)
				return out.Bytes(), err
			},
			decode: func(b []byte, v any) error { return jsoniter.NewDecoder(bytes.NewReader(b)).Decode(v) },
		},
	)
}
