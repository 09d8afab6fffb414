package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/sqlite"
)

const (
	maxQueryTime  = 30 * time.Second
	maxQueryRows  = 100_000
	maxQueryBytes = 64 << 20 // of an answer
	largeAnswer   = 8 << 20  // in bytes, after which memory is given back at once
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
	if err := answer.ReadsOnly(s.SQL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxQueryTime)
	defer cancel()
	rows := &deskRows{}
	err := o.RunQuery(ctx, s.SQL, export.Endorsements, func(columns []string) answer.RowWriter {
		rows.begin(columns)
		return rows
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, &control.Error{Code: http.StatusRequestTimeout, Text: "the statement takes longer than " +
			maxQueryTime.String() + "; export the map, and ask sqlite3"}
	}
	if rows.b.Len() > largeAnswer || errors.As(err, new(*term.UsageError)) {
		debug.FreeOSMemory() // which waits for the next question otherwise
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

func (d *deskRows) Row(values []any) (bool, error) {
	if d.rows >= maxQueryRows {
		d.more = true
		return false, nil
	}
	size := 0
	plain := make([]any, len(values))
	for i, v := range values {
		plain[i] = answer.JSONValue(v)
		size += jsonSize(plain[i])
	}
	if d.rows > 0 && d.b.Len()+size > maxQueryBytes {
		d.more = true
		return false, nil
	}
	if size > maxQueryBytes {
		return false, fmt.Errorf("%w: more than %d MiB in a row", sqlite.ErrMemory, maxQueryBytes>>20)
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

// jsonSize is how many bytes a value takes in JSON, at most.
func jsonSize(v any) int {
	const escaped, others = 6, 32 // \u0000; a number, or the quotes and the comma of a text
	text, _ := v.(string)
	size := others + len(text)
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || strings.IndexByte(`<>&"\`, c) >= 0 {
			size += escaped - 1
		}
	}
	return size
}

func (d *deskRows) End() error {
	d.b.WriteString(`],"more":`)
	if d.more {
		d.b.WriteString("true}")
	} else {
		d.b.WriteString("false}")
	}
	return nil
}
