package graph

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/schema"
)

// csvFiles writes nodes.csv and edges.csv. At page level the nodes begin with the
// columns of the pages CSV.
func csvFiles(ctx context.Context, dir string, g *export.Graph, opts Options) ([]string, error) {
	const nodes, edges = "nodes.csv", "edges.csv"
	err := csvFile(ctx, filepath.Join(dir, nodes), func(o *output) error { return csvNodes(o, g, opts) })
	if err == nil {
		err = csvFile(ctx, filepath.Join(dir, edges), func(o *output) error { return csvEdges(o, g, opts) })
	}
	return []string{nodes, edges}, err
}

func csvFile(ctx context.Context, path string, write func(*output) error) error {
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		return err
	}
	return whole.Fill(ctx, path, func(w io.Writer) error {
		o := newOutput(w)
		if err := write(o); err != nil {
			return err
		}
		return o.Flush()
	})
}

func csvNodes(o *output, g *export.Graph, opts Options) error {
	columns := nodeColumns(g.Level())
	referrers := newReferrers(g.Survey())
	if g.Level() == export.LevelPage {
		columns = append(pageColumns(referrers), columns...)
	}
	id := []column[export.Node]{
		{"Id", integer, func(n *export.Node) value { return number(int64(n.ID)) }},
		{"Label", text, func(n *export.Node) value { return words(n.Name) }},
	}
	if opts.Neo4j {
		label := strings.ToUpper(g.Level().String()[:1]) + g.Level().String()[1:]
		id[0].name, id[1].name = "id:ID", "label"
		id = append(id, column[export.Node]{":LABEL", text, func(*export.Node) value { return words(label) }})
	}
	at := 0
	if g.Level() == export.LevelPage {
		at = pageColumnCount
	}
	columns = append(columns[:at:at], append(id, unique(columns[at:], columns[:at])...)...)
	csvHead(o, columns, opts)
	return g.EachNode(func(n *export.Node) error { return errors.Join(csvRow(o, n, columns), referrers.err) })
}

// unique leaves out columns whose names are taken.
func unique(columns, taken []column[export.Node]) []column[export.Node] {
	names := map[string]bool{}
	for _, c := range taken {
		names[c.name] = true
	}
	var kept []column[export.Node]
	for _, c := range columns {
		if !names[c.name] {
			kept = append(kept, c)
		}
	}
	return kept
}

func csvEdges(o *output, g *export.Graph, opts Options) error {
	type link = export.Link
	names := []string{"Source", "Target", "Type", "Weight"}
	kind := "Directed"
	if opts.Neo4j {
		names, kind = []string{":START_ID", ":END_ID", ":TYPE", "weight"}, "LINKS"
	}
	columns := append([]column[link]{
		{names[0], integer, func(l *link) value { return number(int64(l.From)) }},
		{names[1], integer, func(l *link) value { return number(int64(l.To)) }},
		{names[2], text, func(*link) value { return words(kind) }},
		{names[3], integer, func(l *link) value { return number(int64(l.Links)) }},
	}, linkColumns(g.Level())...)
	csvHead(o, columns, opts)
	return g.EachLink(func(l *link) error { return csvRow(o, l, columns) })
}

func csvHead[T any](o *output, columns []column[T], opts Options) {
	for i, c := range columns {
		if i > 0 {
			o.say(",")
		}
		o.say(c.name)
		if opts.Neo4j && c.kind != text && !strings.Contains(c.name, ":") {
			o.say([...]string{integer: ":long", real: ":double"}[c.kind])
		}
	}
	o.say("\n")
}

func csvRow[T any](o *output, of *T, columns []column[T]) error {
	for i := range columns {
		if i > 0 {
			o.line = append(o.line, ',')
		}
		v := columns[i].of(of)
		switch {
		case v.none:
		case columns[i].kind == text:
			o.line = AppendCell(o.line, v.text)
		default:
			o.line = v.appendNumber(o.line, columns[i].kind)
		}
	}
	o.line = append(o.line, '\n')
	return o.put()
}

const pageColumnCount = 17

// pageColumns are the columns of the pages CSV: times in seconds since 1970, an
// empty proxy_id, and what [[extract]] found as metadata.
func pageColumns(r *referrers) []column[export.Node] {
	type node = export.Node
	visit := func(f func(*schema.Visit) value) func(*node) value {
		return func(n *node) value {
			if n.Page.Visit == nil {
				return value{none: true}
			}
			return f(n.Page.Visit)
		}
	}
	return []column[node]{
		{"timestamp", integer, visit(func(v *schema.Visit) value { return number(v.At.Unix()) })},
		{"url", text, func(n *node) value { return words(n.Name) }},
		{"page_type", text, func(n *node) value { return words(n.Page.PageType) }},
		{"depth", integer, func(n *node) value { return depth(n.Depth) }},
		{"referrer", text, func(n *node) value { return words(r.url(n.Page.Referrer)) }},
		{"http_status", integer, visit(func(v *schema.Visit) value { return unless0(int64(v.Status)) })},
		{"content_type", text, visit(func(v *schema.Visit) value { return words(v.ContentType) })},
		{"encoding", text, visit(func(v *schema.Visit) value { return words(v.Charset) })},
		{"content_sha256", text, visit(digest)},
		{"content_bytes", integer, visit(func(v *schema.Visit) value { return value{count: v.Length, none: v.Length < 0} })},
		{"stored_path", text, visit(func(v *schema.Visit) value { return words(v.StoredPath) })},
		{"etag", text, visit(func(v *schema.Visit) value { return words(v.ETag) })},
		{"last_modified", text, visit(func(v *schema.Visit) value { return words(v.LastModified) })},
		{"fetch_latency_ms", integer, visit(func(v *schema.Visit) value { return number(v.ResponseTime.Milliseconds()) })},
		{"retries", integer, func(n *node) value { return number(int64(n.Page.Retries)) }},
		{"proxy_id", text, func(*node) value { return value{none: true} }},
		{"metadata", text, visit(metadata)},
	}
}

func digest(v *schema.Visit) value {
	if v.SHA256 == [32]byte{} {
		return value{none: true}
	}
	return words(hex.EncodeToString(v.SHA256[:]))
}

// metadata is the facts of a page as a JSON object: a list of values by name.
func metadata(v *schema.Visit) value {
	if len(v.Facts) == 0 {
		return value{none: true}
	}
	all := map[string][]string{}
	for _, f := range v.Facts {
		all[f.Name] = append(all[f.Name], clean(f.Value))
	}
	text, _ := json.Marshal(all) // strings cannot fail
	return words(string(text))
}
