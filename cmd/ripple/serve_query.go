package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/control"
)

const (
	maxQueryTime  = 30 * time.Second
	maxQueryRows  = 100_000
	maxQueryBytes = 64 << 20 // of an answer
)

// A statement is asked in SQL, and answered with rows.
type (
	statement struct {
		SQL string `json:"sql"`
	}
	queryAnswer struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
		More    bool     `json:"more"` // there are further rows
	}
)

func (o *opened) answerQuery(ctx context.Context, q desk.Query) (any, error) {
	var s statement
	if err := q.Decode(&s); err != nil {
		return nil, err
	}
	if err := readsOnly(s.SQL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxQueryTime)
	defer cancel()
	rows := &deskRows{}
	err := o.query(ctx, s.SQL, func(columns []string) rowWriter {
		rows.begin(columns)
		return rows
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, &control.Error{Code: http.StatusRequestTimeout, Text: "the statement takes longer than " +
			maxQueryTime.String() + "; export the map, and ask sqlite3"}
	}
	if err != nil {
		return nil, err
	}
	return desk.Stream(func(w io.Writer) error { _, err := rows.b.WriteTo(w); return err }), nil
}

// deskRows are a [queryAnswer] as it is sent.
type deskRows struct {
	b    bytes.Buffer
	rows int
	more bool
}

func (d *deskRows) begin(columns []string) {
	names, _ := json.Marshal(columns) // strings always have a form
	d.b.WriteString(`{"columns":`)
	d.b.Write(names)
	d.b.WriteString(`,"rows":[`)
}

func (d *deskRows) row(values []any) (bool, error) {
	if d.rows >= maxQueryRows || d.b.Len() > maxQueryBytes {
		d.more = true
		return false, nil
	}
	plain := make([]any, len(values))
	for i, v := range values {
		plain[i] = jsonValue(v)
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return false, err
	}
	if d.rows > 0 {
		d.b.WriteByte(',')
	}
	d.rows++
	d.b.Write(text)
	return true, nil
}

func (d *deskRows) end() error {
	d.b.WriteString(`],"more":`)
	if d.more {
		d.b.WriteString("true}")
	} else {
		d.b.WriteString("false}")
	}
	return nil
}
