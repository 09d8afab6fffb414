package show

import (
	"fmt"
	"io"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// The widths to which the cells of a table are cut, in characters. The last cell of a row may be
// wider, because nothing follows it.
const (
	maxCell     = 80
	maxLastCell = 300
)

// tableRows prints rows for people.
type tableRows struct {
	voice *term.Voice
	t     term.Table
	limit int
	rows  int
	more  bool
}

// NewTableRows returns a writer of rows as a table with up to limit rows.
func NewTableRows(v *term.Voice, out io.Writer, columns []string, limit int) *tableRows {
	w := &tableRows{voice: v, t: term.NewTable(out), limit: limit}
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

func (w *tableRows) Row(values []any) (bool, error) {
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
		shown[i] = term.Cut(term.Clean(answer.Plain(v), 4*(width+1)), width)
	}
	w.t.Row(shown...)
	return true, nil
}

func (w *tableRows) End() error {
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
