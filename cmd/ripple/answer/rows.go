package answer

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A RowWriter writes the rows of an answer.
type RowWriter interface {
	Row(values []any) (more bool, err error)
	End() error
}

// Plain returns a value as text. NULL is empty.
func Plain(v any) string {
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

// csvRows writes an answer as CSV, with formulas made harmless.
type csvRows struct {
	w    *bufio.Writer
	line []byte
}

// NewCSVRows returns a writer of rows as CSV.
func NewCSVRows(w io.Writer, columns []string) *csvRows {
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
		c.line = append(c.line, Plain(v)...)
	default:
		c.line = sanitize.AppendCell(c.line, Plain(v))
	}
}

func (c *csvRows) Row(values []any) (bool, error) {
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

func (c *csvRows) End() error {
	if err := c.flush(); err != nil {
		return err
	}
	return c.w.Flush()
}

// jsonRows writes an answer as an array of objects, with members in the order of the columns. A
// repeated column name gets a number.
type jsonRows struct {
	w     *bufio.Writer
	names []string
	rows  int
}

// NewJSONRows returns a writer of rows as JSON.
func NewJSONRows(w io.Writer, columns []string) *jsonRows {
	j := &jsonRows{w: bufio.NewWriter(w)}
	taken := map[string]bool{}
	for _, name := range columns {
		unique := name
		for i := 2; taken[unique]; i++ {
			unique = name + "_" + strconv.Itoa(i)
		}
		taken[unique] = true
		quoted, _ := json.Marshal(unique) // a string always marshals
		j.names = append(j.names, string(sanitize.JSON(quoted)))
	}
	return j
}

func (j *jsonRows) Row(values []any) (bool, error) {
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
		text, err := json.Marshal(JSONValue(v))
		if err != nil {
			return false, err
		}
		j.w.WriteString(j.names[i] + ": ")
		j.w.Write(sanitize.JSON(text))
	}
	_, err := j.w.WriteString("}") // a bufio.Writer keeps its error
	return true, err
}

// JSONValue converts a value to one that JSON can represent.
func JSONValue(v any) any {
	switch f := v.(type) {
	case []byte:
		return Plain(v)
	case float64:
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return Plain(v)
		}
	}
	return v
}

func (j *jsonRows) End() error {
	if j.rows == 0 {
		j.w.WriteString("[")
	}
	j.w.WriteString("\n]\n")
	return j.w.Flush()
}
