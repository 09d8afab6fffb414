package graph

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// csvFiles writes nodes.csv and edges.csv. At page level the nodes begin with the columns of the pages
// CSV.
func csvFiles(ctx context.Context, dir string, g *export.Graph, opts Options) ([]string, error) {
	const nodes, edges = "nodes.csv", "edges.csv"
	err := csvFile(ctx, filepath.Join(dir, nodes), func(o *output) error { return csvNodes(o, g, opts) })
	if err == nil {
		err = csvFile(ctx, filepath.Join(dir, edges), func(o *output) error { return csvEdges(o, g, opts) })
	}
	return []string{nodes, edges}, err
}

func csvFile(ctx context.Context, path string, write func(*output) error) error {
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return err
	}
	return atomicfile.Fill(ctx, path, func(w io.Writer) error {
		o := newOutput(w)
		if err := write(o); err != nil {
			return err
		}
		return o.Flush()
	})
}

func csvNodes(o *output, g *export.Graph, opts Options) error {
	columns := g.NodeColumns()
	referrers := newReferrers(g.Survey())
	head := []export.Column[export.Node]{
		numberColumn("Id", func(n *export.Node) int64 { return int64(n.ID) }),
		textColumn("Label", func(n *export.Node) string { return n.Name }),
	}
	if opts.Neo4j {
		label := strings.ToUpper(g.Level().String()[:1]) + g.Level().String()[1:]
		head[0].Name, head[1].Name = "id:ID", "label"
		head = append(head, textColumn(":LABEL", func(n *export.Node) string {
			if n.Outside != nil {
				return "Outside"
			}
			return label
		}))
	}
	if g.Level() == export.LevelPage {
		pages := pageColumns(referrers)
		for i := range pages {
			pages[i] = ofPages(pages[i])
		}
		head, columns = slices.Concat(pages, head), unique(columns, pages)
	}
	columns = append(head, columns...)
	if err := csvHead(o, columns, opts); err != nil {
		return err
	}
	return eachNode(g, func(n *export.Node) error { return errors.Join(csvRow(o, n, columns), referrers.err) })
}

// ofPages returns the column without a value for a host outside.
func ofPages(c export.Column[export.Node]) export.Column[export.Node] {
	of := c.Of
	c.Of = func(n *export.Node) export.Value {
		if n.Page == nil {
			return export.Value{None: true}
		}
		return of(n)
	}
	return c
}

// unique removes columns whose names are taken.
func unique(columns, taken []export.Column[export.Node]) []export.Column[export.Node] {
	names := map[string]bool{}
	for _, c := range taken {
		names[c.Name] = true
	}
	var kept []export.Column[export.Node]
	for _, c := range columns {
		if !names[c.Name] {
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
	columns := append([]export.Column[link]{
		numberColumn(names[0], func(l *link) int64 { return int64(l.From) }),
		numberColumn(names[1], func(l *link) int64 { return int64(l.To) }),
		textColumn(names[2], func(*link) string { return kind }),
		numberColumn(names[3], func(l *link) int64 { return int64(l.Links) }),
	}, g.LinkColumns()...)
	if err := csvHead(o, columns, opts); err != nil {
		return err
	}
	return eachLink(g, g.EachLink, func(l *link) error { return csvRow(o, l, columns) })
}

func csvHead[T any](o *output, columns []export.Column[T], opts Options) error {
	for i, c := range columns {
		if i > 0 {
			o.say(",")
		}
		o.say(c.Name)
		if opts.Neo4j && c.Kind != export.Text && !strings.Contains(c.Name, ":") {
			o.say([...]string{export.Integer: ":long", export.Real: ":double"}[c.Kind])
		}
	}
	o.say("\n")
	return o.put()
}

func csvRow[T any](o *output, of *T, columns []export.Column[T]) error {
	for i := range columns {
		if i > 0 {
			o.line = append(o.line, ',')
		}
		v := columns[i].Of(of)
		switch {
		case v.None:
		case columns[i].Kind == export.Text:
			o.line = sanitize.AppendCell(o.line, v.Text)
		default:
			o.line = appendNumber(o.line, v, columns[i].Kind)
		}
	}
	o.line = append(o.line, '\n')
	return o.put()
}

// pageColumns returns the columns of the pages CSV: times in seconds since 1970, the proxy without its
// credentials as proxy_id, and the facts of [[extract]] as metadata.
func pageColumns(r *referrers) []export.Column[export.Node] {
	type node = export.Node
	type visit = *schema.Visit
	return []export.Column[node]{
		visitNumber("timestamp", func(v visit) (int64, bool) { return v.At.Unix(), true }),
		textColumn("url", func(n *node) string { return n.Name }),
		textColumn("page_type", func(n *node) string { return n.Page.PageType }),
		{Name: "depth", Kind: export.Integer, Of: func(n *node) export.Value {
			return export.Value{Count: int64(n.Depth), None: n.Depth == kv.NoDepth}
		}},
		textColumn("referrer", func(n *node) string { return r.url(n.Page.Referrer) }),
		{Name: "http_status", Kind: export.Integer, Of: func(n *node) export.Value {
			return export.Value{Count: int64(n.Page.Status()), None: n.Page.Status() == 0}
		}},
		visitText("content_type", func(v visit) string { return v.ContentType }),
		visitText("encoding", func(v visit) string { return v.Charset }),
		visitText("content_sha256", digest),
		visitNumber("content_bytes", bytesSent),
		visitText("stored_path", func(v visit) string { return v.StoredPath }),
		visitText("etag", func(v visit) string { return v.ETag }),
		visitText("last_modified", func(v visit) string { return v.LastModified }),
		visitNumber("fetch_latency_ms", func(v visit) (int64, bool) { return v.ResponseTime.Milliseconds(), true }),
		numberColumn("retries", func(n *node) int64 { return int64(n.Page.Retries) }),
		visitText("proxy_id", func(v visit) string { return v.Proxy }),
		visitText("metadata", metadata),
	}
}

// bytesSent returns the length of the body that a visit received: 0 for a 304, whose other facts are
// those of the current body.
func bytesSent(v *schema.Visit) (int64, bool) {
	if v.Status == http.StatusNotModified {
		return 0, true
	}
	return v.Length, v.Length >= 0
}

func textColumn[T any](name string, of func(*T) string) export.Column[T] {
	return export.Column[T]{Name: name, Kind: export.Text, Of: func(t *T) export.Value {
		text := of(t)
		return export.Value{Text: text, None: text == ""}
	}}
}

func numberColumn[T any](name string, of func(*T) int64) export.Column[T] {
	return export.Column[T]{Name: name, Kind: export.Integer, Of: func(t *T) export.Value {
		return export.Value{Count: of(t)}
	}}
}

// visitText is a column with a text of the visit, empty without a visit.
func visitText(name string, of func(*schema.Visit) string) export.Column[export.Node] {
	return textColumn(name, func(n *export.Node) string {
		if n.Page.Visit == nil {
			return ""
		}
		return of(n.Page.Visit)
	})
}

// visitNumber is a column with a number of a visit that made a request. The number may be unknown.
func visitNumber(name string, of func(*schema.Visit) (n int64, known bool)) export.Column[export.Node] {
	return export.Column[export.Node]{Name: name, Kind: export.Integer, Of: func(n *export.Node) export.Value {
		if n.Page.Visit == nil || n.Page.FetchURL == "" {
			return export.Value{None: true}
		}
		number, known := of(n.Page.Visit)
		return export.Value{Count: number, None: !known}
	}}
}

func digest(v *schema.Visit) string {
	if v.SHA256 == [32]byte{} {
		return ""
	}
	return hex.EncodeToString(v.SHA256[:])
}

// metadata returns the facts of a page as a JSON object: a list of values by name.
func metadata(v *schema.Visit) string {
	if len(v.Facts) == 0 {
		return ""
	}
	all := map[string][]string{}
	for _, f := range v.Facts {
		all[f.Name] = append(all[f.Name], sanitize.Text(f.Value))
	}
	text, _ := json.Marshal(all) // strings always marshal
	return string(text)
}
