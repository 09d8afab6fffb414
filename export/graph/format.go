package graph

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A Format is one way to write a graph.
type Format struct {
	Name   string // of its flag
	Usage  string
	Noun   string // its result: "a GraphML file"
	Title  string // "GEXF"
	For    string // typical use
	Ending string // of its file; empty: a folder
	Keyed  bool   // for a shard of a terrain it writes a subfolder, with keys that are the same in all shards
	Pruned bool   // above page level it contains only the links of the picture
	Drawn  bool   // not available at page level, which has too many nodes for a picture

	// Key in [output] of the configuration, for output at the end of a crawl, and its path; empty and
	// nil: none.
	Key  string
	Path func(config.Output) string

	ours   func(head []byte) bool // for a file with this beginning
	stream func(*output, *export.Graph, Options) error
	files  func(context.Context, string, *export.Graph, Options) ([]string, error)
}

// Options change the output of some formats.
type Options struct {
	Force bool // replace files that Ripple did not write
	Neo4j bool // CSV columns as for neo4j-admin; otherwise as for Gephi

	GEXF12 bool // GEXF 1.2draft, for Gephi 0.9 and networkx below 3; otherwise 1.3
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{
			Name: "gexf", Noun: "a GEXF file of the terrain", Usage: "write GEXF, for Gephi, to `FILE`",
			Title: "GEXF", For: "opens finished in Gephi", Ending: ".gexf", Pruned: true,
			ours: begins(gexfHead, gexf12Head), stream: gexf,
			Key: "graph-path", Path: func(o config.Output) string { return o.GraphPath },
		},
		{
			Name: "graphml", Noun: "a GraphML file", Usage: "write GraphML to `FILE`",
			Title: "GraphML", For: "networkx, yEd", Ending: ".graphml",
			ours: begins(graphmlHead), stream: graphml,
		},
		{
			Name: "dot", Noun: "a DOT file", Usage: "write DOT, for Graphviz, to `FILE`",
			Title: "DOT", For: "Graphviz", Ending: ".dot",
			ours: begins(dotHead), stream: dot,
		},
		{
			Name: "opml", Noun: "an OPML file", Usage: "write OPML, a list to subscribe to, to `FILE`",
			Title: "OPML", For: "nodes with their feeds, for feed readers", Ending: ".opml",
			ours: begins(opmlHead), stream: opml,
		},
		{
			Name: "csv", Noun: "a folder of CSV", Usage: "write nodes.csv and edges.csv into `DIR`",
			Title: "CSV", For: "nodes and edges, for Gephi or Neo4j",
			files: csvFiles,
		},
		{
			Name: "jsonl", Noun: "a JSON Lines file", Usage: "write JSON Lines to `FILE`",
			Title: "JSON Lines", For: "one line for each node and link", Ending: ".jsonl",
			ours: begins(jsonlHead), stream: jsonl,
		},
		{
			Name: "parquet", Noun: "a folder of Parquet", Usage: "write nodes.parquet and edges.parquet into `DIR`",
			Title: "Parquet", For: "DuckDB and Spark", Keyed: true,
			files: parquetFiles,
		},
		{
			Name: "map", Noun: "a map", Usage: "write an HTML map to `FILE`", Pruned: true, Drawn: true,
			Title: "Map", For: "one HTML file that needs no network", Ending: ".html",
			ours: isOurMap, stream: html,
			Key: "map-path", Path: func(o config.Output) string { return o.MapPath },
		},
	}
}

// Folder reports whether the format is a folder of files rather than one file.
func (f Format) Folder() bool { return f.Ending == "" }

// Ours reports whether a file with this beginning was written by Ripple in this format.
func (f Format) Ours(head []byte) bool { return !f.Folder() && f.ours(head) }

// ext returns the extension of the files in its folder.
func (f Format) ext() string { return "." + f.Name }

func begins(with ...string) func([]byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(with, func(w string) bool { return bytes.HasPrefix(head, []byte(w)) })
	}
}

// Check returns why a target must not be replaced, or nil; see package atomicfile.
func (f Format) Check(path string, force bool) error {
	if f.Folder() {
		return f.checkFolder(path, force)
	}
	return atomicfile.CheckFile(path, force, f.Ours)
}

// Write writes a graph with its metrics, and above page level with its picture, to a file or folder
// that appears whole or not at all.
func (f Format) Write(ctx context.Context, path string, g *export.Graph, opts Options) error {
	if err := f.Check(path, opts.Force); err != nil {
		return err
	}
	if err := prepare(g); err != nil {
		return err
	}
	if f.Folder() {
		return f.writeFolder(path, g, opts.Force, func(dir string) ([]string, map[string]any, error) {
			names, err := f.files(ctx, dir, g, opts)
			return names, about(g), err
		})
	}
	return atomicfile.Stream(ctx, path, func(w io.Writer) error { return f.write(w, g, opts) })
}

func (f Format) write(w io.Writer, g *export.Graph, opts Options) error {
	o := newOutput(w)
	if err := f.stream(o, g, opts); err != nil {
		return err
	}
	return o.Flush()
}

func prepare(g *export.Graph) error {
	if g.Level() == export.LevelPage {
		_, err := g.Measure()
		return err
	}
	_, err := g.Picture()
	return err
}

// eachNode calls f for the nodes of a graph, the most trusted first, then for the hosts outside that it has.
func eachNode(g *export.Graph, f func(*export.Node) error) error {
	if err := g.EachLeading(f); err != nil {
		return err
	}
	return g.EachOutside(f)
}

// eachLink calls f for links of a graph, then for those of the hosts outside.
func eachLink(g *export.Graph, each func(func(*export.Link) error) error, f func(*export.Link) error) error {
	if err := each(f); err != nil {
		return err
	}
	return g.EachInlink(f)
}

// A fact is one property of a graph as a whole.
type fact struct{ name, text string }

// facts returns the properties of a graph that are not empty.
func facts(g *export.Graph) []fact {
	m := g.Meta()
	all := []fact{
		{"ripple", "graph"}, {"level", m.Level.String()}, {"runs", m.Runs}, {"run", fmt.Sprint(m.Run)},
		{"status", m.Status}, {"reason", m.Reason}, {"partial", m.Partial()}, {"shard", shardOf(g)}, {"selection", m.Options},
		{"inlinks", m.Inlinks}, {"rules", m.Rules},
	}
	kept := all[:0]
	for _, f := range all {
		if f.text != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

// shardOf returns the shard of the graph; it is empty for a whole terrain.
func shardOf(g *export.Graph) string {
	shard, shards := g.Survey().Shard()
	if shards == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", shard, shards)
}

// about returns the graph's entries in the manifest of a folder.
func about(g *export.Graph) map[string]any {
	all := map[string]any{}
	for _, f := range facts(g)[1:] {
		all[f.name] = sanitize.Text(f.text)
	}
	return all
}

// sentence returns all properties of a graph in one line.
func sentence(g *export.Graph, pruned string) string {
	return strings.TrimSuffix(g.Meta().String()+"; "+pruned, "; ")
}

// An output is a buffered writer with a buffer for the current line.
type output struct {
	*bufio.Writer
	line []byte
}

const bufferSize = 1 << 16

func newOutput(w io.Writer) *output { return &output{Writer: bufio.NewWriterSize(w, bufferSize)} }

// put writes the line and resets it.
func (o *output) put() error {
	_, err := o.Write(o.line)
	o.line = o.line[:0]
	return err
}

func (o *output) say(parts ...string) {
	for _, p := range parts {
		o.line = append(o.line, p...)
	}
}
