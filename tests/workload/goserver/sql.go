// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	truth "hbprof/workload/lib"
	"hbprof/workload/lib/serve"
)

// A database of nothing: each query has one row, and takes the time of the server's work. What is left is
// database/sql's own part, above all the waiting for one of too few connections.
const maxConns = 2

type fakeDB struct{ work *serve.Work }

func (d fakeDB) Connect(context.Context) (driver.Conn, error) { return &fakeConn{d}, nil }
func (d fakeDB) Driver() driver.Driver                        { return nil }

type fakeConn struct{ db fakeDB }

func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not there") }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("not there") }
func (c *fakeConn) Close() error                        { return nil }

func (c *fakeConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.db.work.Do()
	return &fakeRows{}, nil
}

type fakeRows struct{ done bool }

func (r *fakeRows) Columns() []string { return []string{"n"} }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done, dest[0] = true, int64(42)
	return nil
}

func useSQL(s *server) {
	useMarshal(s)
	s.db = sql.OpenDB(fakeDB{&s.Work})
	s.db.SetMaxOpenConns(maxConns)
	s.db.SetMaxIdleConns(maxConns)
	s.queries = s.Group("database/sql.(*DB).QueryContext")
	s.AtEnd = func() {
		st := s.db.Stats()
		s.Set.Notef("GROUP database/sql.(*DB).conn calls=%d", s.queries.Len())
		s.Set.Notef("WAITED database/sql.(*DB).conn calls=%d sum_ns=%d", st.WaitCount, st.WaitDuration.Nanoseconds())
	}
}

// query holds its connection until the row is read.
func (s *server) query() {
	var n int

	t0 := truth.Now()
	rows, err := s.db.QueryContext(context.Background(), "SELECT n")
	s.queries.Add(truth.Now()-t0, 0)
	if err != nil {
		truth.Fatalf("the query failed: %v", err)
	}
	defer rows.Close()
	if !rows.Next() || rows.Scan(&n) != nil || n != 42 {
		truth.Fatalf("the query has no row")
	}
}
