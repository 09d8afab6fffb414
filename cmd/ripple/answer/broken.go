package answer

import (
	"time"

	"github.com/sumi-ripple/ripple/export/broken"
)

// BrokenColumns returns the column names of a list of broken links; with archived those of captures follow.
func BrokenColumns(archived bool) []string {
	columns := []string{
		"quality_origin", "from_url", "anchor", "to_url",
		"state", "status_code", "error_message", "kind", "rel", "place", "answer",
	}
	if archived {
		columns = append(columns, "archived_at", "archived_url", "archived_file", "archived_offset")
	}
	return columns
}

// WriteBroken writes broken links as rows with the columns of [BrokenColumns] for programs.
func WriteBroken(to RowWriter, links []broken.Link, archived bool) error {
	for i := range links {
		l := &links[i]
		values := []any{orNull(l.Origin), l.From, l.Link.Anchor, l.To, l.State.String(), orNull(int64(l.Status)), l.Why,
			l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where(), orNull(l.Answer.String())}
		switch c := l.Capture; {
		case archived && c == nil:
			values = append(values, nil, nil, nil, nil)
		case archived:
			values = append(values, c.At.Format(time.RFC3339), c.URL, orNull(c.File), offsetOf(c))
		}
		if _, err := to.Row(values); err != nil {
			return err
		}
	}
	return to.End()
}

func offsetOf(c *broken.Capture) any {
	if c.Offset < 0 {
		return nil
	}
	return c.Offset
}

// orNull returns nil, which is NULL, for the zero value.
func orNull[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}
