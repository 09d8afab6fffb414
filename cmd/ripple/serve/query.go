package serve

import (
	"bytes"
	"cmp"
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
	largeAnswer   = 8 << 20  // in bytes; after a larger one memory is returned at once
)

// A Statement is a question in SQL. Its answer is rows.
type (
	statement struct {
		SQL   string `json:"sql"`
		Links string `json:"links,omitempty"` // by which metrics are computed: "text" (the default) or "all"
	}
	queryAnswer struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
		More    bool     `json:"more"` // further rows were left out
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
	counted, err := export.ParseCounted(cmp.Or(s.Links, export.Endorsements.String()))
	if err != nil {
		return nil, term.Usage("links: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxQueryTime)
	defer cancel()
	rows := &deskRows{}
	err = o.RunQuery(ctx, s.SQL, counted, func(columns []string) answer.RowWriter {
		rows.Begin(columns)
		return rows
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, &control.Error{Code: http.StatusRequestTimeout, Text: "the statement takes longer than " +
			maxQueryTime.String() + "; export the map, and ask sqlite3"}
	}
	if rows.B.Len() > largeAnswer || errors.As(err, new(*term.UsageError)) {
		debug.FreeOSMemory() // otherwise only during the next question
	}
	if err != nil {
		return nil, err
	}
	return desk.Stream(func(w io.Writer) error { _, err := rows.B.WriteTo(w); return err }), nil
}

// deskRows collects a [queryAnswer] as JSON.
type deskRows struct {
	B    bytes.Buffer
	rows int
	More bool
}

func (d *deskRows) Begin(columns []string) {
	names, _ := json.Marshal(columns) // strings never fail
	d.B.WriteString(`{"columns":`)
	d.B.Write(names)
	d.B.WriteString(`,"rows":[`)
}

func (d *deskRows) Row(values []any) (bool, error) {
	if d.rows >= maxQueryRows {
		d.More = true
		return false, nil
	}
	size := 0
	plain := make([]any, len(values))
	for i, v := range values {
		plain[i] = answer.JSONValue(v)
		size += jsonSize(plain[i])
	}
	if d.rows > 0 && d.B.Len()+size > maxQueryBytes {
		d.More = true
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
		d.B.WriteByte(',')
	}
	d.rows++
	d.B.Write(text)
	return true, nil
}

// jsonSize returns the maximum size of a value in JSON, in bytes.
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
	d.B.WriteString(`],"more":`)
	if d.More {
		d.B.WriteString("true}")
	} else {
		d.B.WriteString("false}")
	}
	return nil
}
