package answer

import "github.com/sumi-ripple/ripple/export/broken"

// BrokenColumns returns the column names of a list of broken links.
func BrokenColumns() []string {
	return []string{
		"quality_origin", "from_url", "anchor", "to_url",
		"state", "status_code", "error_message", "kind", "rel", "place", "answer",
	}
}

// WriteBroken writes broken links as rows for programs.
func WriteBroken(to RowWriter, links []broken.Link) error {
	for i := range links {
		l := &links[i]
		values := []any{orNull(l.Origin), l.From, l.Link.Anchor, l.To, l.State.String(), orNull(int64(l.Status)), l.Why,
			l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where(), orNull(l.Answer.String())}
		if _, err := to.Row(values); err != nil {
			return err
		}
	}
	return to.End()
}

// orNull returns nil, which is NULL, for the zero value.
func orNull[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}
