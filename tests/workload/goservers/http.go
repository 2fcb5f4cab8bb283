// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	ginjson "github.com/gin-gonic/gin/codec/json"
	"github.com/labstack/echo/v4"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

// owner is the request that a codec's call belongs to.
type owner struct {
	conn  *serve.Conn
	size  int // of the body
	codec int64
}

type ownerKey struct{}

func (o *owner) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, o)
}

func ownerOf(r *http.Request) *owner {
	return r.Context().Value(ownerKey{}).(*owner)
}

func (s *server) timed(o *owner, f *truth.Func, size *int, call func() error) error {
	ns, err := s.Timed(o.conn, f, size, call)
	o.codec += ns
	return err
}

// counter knows how much the codec wrote.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += n
	return n, err
}

// ---- gin: its codec is a variable of the package, and is not told the request ----------------

// values leads from the value that is decoded and encoded to its request.
var values sync.Map

type ginCodec struct {
	ginjson.Core
	s *server
}

type ginDecoder struct {
	ginjson.Decoder
	s *server
}

func ownerOfValue(v any) *owner {
	o, ok := values.Load(v)
	if !ok {
		truth.Fatalf("a codec's call for no request: %T", v)
	}
	return o.(*owner)
}

func (c ginCodec) Marshal(v any) (text []byte, err error) {
	var size int
	err = c.s.timed(ownerOfValue(v), c.s.enc, &size, func() error {
		text, err = c.Core.Marshal(v)
		size = len(text)
		return err
	})
	c.s.Set.AddChecksum(truth.Hash(text))
	return text, err
}

func (c ginCodec) NewDecoder(r io.Reader) ginjson.Decoder {
	return ginDecoder{c.Core.NewDecoder(r), c.s}
}

func (d ginDecoder) Decode(v any) error {
	o := ownerOfValue(v)
	return d.s.timed(o, d.s.dec, &o.size, func() error { return d.Decoder.Decode(v) })
}

func startGin(s *server) {
	s.enc = s.Set.Func(jsonPath, "encode", jsonPath+".Marshal")
	s.dec = s.Set.Func(jsonPath, "decode", jsonPath+".(*Decoder).Decode")
	ginjson.API = ginCodec{ginjson.API, s}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(gin.Recovery())
	e.POST("/", func(c *gin.Context) {
		v := s.Fresh(c.Request.ContentLength)
		values.Store(v, ownerOf(c.Request))
		defer values.Delete(v)
		if err := c.ShouldBindJSON(v); err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		s.Work.Do()
		c.JSON(http.StatusOK, v)
	})
	serve.HTTP(s.Listen(), s.timedHandler(e))
}

// ---- echo: its codec is told the request -----------------------------------------------------

type echoCodec struct{ s *server }

// Serialize and Deserialize do what echo's own serializer does.
func (e echoCodec) Serialize(c echo.Context, v any, _ string) error {
	out := &counter{Writer: c.Response()}
	enc := json.NewEncoder(out)
	err := e.s.timed(ownerOf(c.Request()), e.s.enc, &out.n, func() error { return enc.Encode(v) })
	e.s.Set.AddChecksum(uint64(out.n))
	return err
}

func (e echoCodec) Deserialize(c echo.Context, v any) error {
	o := ownerOf(c.Request())
	dec := json.NewDecoder(c.Request().Body)
	return e.s.timed(o, e.s.dec, &o.size, func() error { return dec.Decode(v) })
}

func startEcho(s *server) {
	s.enc = s.Set.Func(jsonPath, "encode", jsonPath+".(*Encoder).Encode")
	s.dec = s.Set.Func(jsonPath, "decode", jsonPath+".(*Decoder).Decode")
	e := echo.New()
	e.JSONSerializer = echoCodec{s}
	e.POST("/", func(c echo.Context) error {
		v := s.Fresh(c.Request().ContentLength)
		if err := c.Bind(v); err != nil {
			return err
		}
		s.Work.Do()
		return c.JSON(http.StatusOK, v)
	})
	serve.HTTP(s.Listen(), s.timedHandler(e))
}
