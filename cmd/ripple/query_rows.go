package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A rowWriter shows the rows of an answer.
type rowWriter interface {
	row(values []any) (more bool, err error)
	end() error
}

// Cells of a table are cut to so many characters. The last of a row pads no other.
const (
	maxCell     = 80
	maxLastCell = 300
)

// tableRows show an answer to a person.
type tableRows struct {
	voice *term.Voice
	t     term.Table
	limit int
	rows  int
	more  bool
}

func newTableRows(a *app, columns []string, limit int) *tableRows {
	w := &tableRows{voice: a.voice, t: term.NewTable(a.stdout), limit: limit}
	w.t.Row(cells(columns)...)
	return w
}

func cells(columns []string) []any {
	out := make([]any, len(columns))
	for i, c := range columns {
		out[i] = term.Clean(c, 100)
	}
	return out
}

func (w *tableRows) row(values []any) (bool, error) {
	if w.rows == w.limit {
		w.more = true
		return false, nil
	}
	w.rows++
	shown := make([]any, len(values))
	for i, v := range values {
		width := maxCell
		if i == len(values)-1 {
			width = maxLastCell
		}
		shown[i] = term.Cut(term.Clean(plain(v), 4*(width+1)), width)
	}
	w.t.Row(shown...)
	return true, nil
}

func (w *tableRows) end() error {
	if err := w.t.Flush(); err != nil {
		return err
	}
	if w.more {
		text := fmt.Sprintf("there are more than %s; --limit N shows more, --csv and --json all",
			term.Count(w.limit, "row", "rows"))
		w.voice.Tell(term.Event("there are more rows", text, "count", w.limit))
	}
	return nil
}

// plain is a value as text; NULL is empty.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return hex.EncodeToString(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// csvRows write an answer as CSV without formulas.
type csvRows struct {
	w    *bufio.Writer
	line []byte
}

func newCSVRows(w io.Writer, columns []string) *csvRows {
	c := &csvRows{w: bufio.NewWriter(w)}
	for i, name := range columns {
		c.cell(i, name)
	}
	c.line = append(c.line, '\n')
	return c
}

func (c *csvRows) cell(i int, v any) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
	switch v.(type) {
	case int64, float64:
		c.line = append(c.line, plain(v)...)
	default:
		c.line = sanitize.AppendCell(c.line, plain(v))
	}
}

func (c *csvRows) row(values []any) (bool, error) {
	for i, v := range values {
		c.cell(i, v)
	}
	c.line = append(c.line, '\n')
	return true, c.flush()
}

func (c *csvRows) flush() error {
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
}

func (c *csvRows) end() error {
	if err := c.flush(); err != nil {
		return err
	}
	return c.w.Flush()
}

// jsonRows write an answer as an array of objects, whose members are in the order
// of the columns. A name that comes again gets a number.
type jsonRows struct {
	w     *bufio.Writer
	names []string
	rows  int
}

func newJSONRows(w io.Writer, columns []string) *jsonRows {
	j := &jsonRows{w: bufio.NewWriter(w)}
	taken := map[string]bool{}
	for _, name := range columns {
		unique := name
		for i := 2; taken[unique]; i++ {
			unique = name + "_" + strconv.Itoa(i)
		}
		taken[unique] = true
		quoted, _ := json.Marshal(unique) // a string always has a form
		j.names = append(j.names, string(sanitize.JSON(quoted)))
	}
	return j
}

func (j *jsonRows) row(values []any) (bool, error) {
	open := "[\n  {"
	if j.rows > 0 {
		open = ",\n  {"
	}
	j.rows++
	j.w.WriteString(open)
	for i, v := range values {
		if i > 0 {
			j.w.WriteString(", ")
		}
		text, err := json.Marshal(jsonValue(v))
		if err != nil {
			return false, err
		}
		j.w.WriteString(j.names[i] + ": ")
		j.w.Write(sanitize.JSON(text))
	}
	_, err := j.w.WriteString("}") // errors of a bufio.Writer stay
	return true, err
}

// jsonValue is a value as JSON can say it.
func jsonValue(v any) any {
	switch f := v.(type) {
	case []byte:
		return plain(v)
	case float64:
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return plain(v)
		}
	}
	return v
}

func (j *jsonRows) end() error {
	if j.rows == 0 {
		j.w.WriteString("[")
	}
	j.w.WriteString("\n]\n")
	return j.w.Flush()
}
