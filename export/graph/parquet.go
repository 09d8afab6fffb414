package graph

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv"
)

// A nodeRow is a node in Parquet. Columns that a level does not have are empty.
type nodeRow struct {
	ID        int64    `parquet:"id"`
	Label     string   `parquet:"label"`
	Title     string   `parquet:"title,optional"`
	Class     string   `parquet:"class,dict"`
	Depth     *int64   `parquet:"depth,optional"`
	State     string   `parquet:"state,dict"`
	Domain    string   `parquet:"domain,optional,dict"`
	Entity    string   `parquet:"entity,optional"`
	Site      string   `parquet:"site,optional,dict"`
	Status    int64    `parquet:"status_code,optional"`
	Hosts     int64    `parquet:"hosts"`
	Pages     int64    `parquet:"pages"`
	Visited   int64    `parquet:"visited"`
	FirstRun  int64    `parquet:"first_run,optional"`
	LastRun   int64    `parquet:"last_run,optional"`
	Degree    int64    `parquet:"degree"`
	InDegree  int64    `parquet:"in_degree"`
	OutDegree int64    `parquet:"out_degree"`
	PageRank  float64  `parquet:"pagerank"`
	Harmonic  float64  `parquet:"harmonic"`
	Component int64    `parquet:"component"`
	Community int64    `parquet:"community"`
	X         *float64 `parquet:"x,optional"`
	Y         *float64 `parquet:"y,optional"`
}

// An edgeRow is a link in Parquet.
type edgeRow struct {
	Source    int64   `parquet:"source"`
	Target    int64   `parquet:"target"`
	Weight    int64   `parquet:"weight"`
	Pages     int64   `parquet:"pages"`
	Editorial float64 `parquet:"editorial"`
	Kind      string  `parquet:"kind,optional,dict"`
	Rel       string  `parquet:"rel,optional,dict"`
	Place     string  `parquet:"place,optional,dict"`
	Anchor    string  `parquet:"anchor,optional"`
	FirstRun  int64   `parquet:"first_run"`
	LastRun   int64   `parquet:"last_run"`
}

// parquetFiles writes nodes.parquet and edges.parquet.
func parquetFiles(ctx context.Context, dir string, g *export.Graph, _ Options) ([]string, error) {
	const nodes, edges = "nodes.parquet", "edges.parquet"
	err := parquetFile(ctx, filepath.Join(dir, nodes), g, func(add func(nodeRow) error) error {
		return g.EachNode(func(n *export.Node) error { return add(newNodeRow(n)) })
	})
	if err == nil {
		err = parquetFile(ctx, filepath.Join(dir, edges), g, func(add func(edgeRow) error) error {
			return g.EachLink(func(l *export.Link) error { return add(newEdgeRow(l)) })
		})
	}
	return []string{nodes, edges}, err
}

const (
	batchRows = 1 << 10
	groupRows = 1 << 17
)

// parquetFile writes rows in batches, and lets go of them group by group.
func parquetFile[T any](ctx context.Context, path string, g *export.Graph, each func(add func(T) error) error) error {
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		return err
	}
	options := []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(groupRows)}
	for _, f := range facts(g, "") {
		options = append(options, parquet.KeyValueMetadata("ripple."+f.name, clean(f.text)))
	}
	return whole.Fill(ctx, path, func(w io.Writer) error {
		p := parquet.NewGenericWriter[T](w, options...)
		rows := make([]T, 0, batchRows)
		flush := func() error {
			_, err := p.Write(rows)
			rows = rows[:0]
			return err
		}
		err := each(func(row T) error {
			if rows = append(rows, row); len(rows) < batchRows {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
		return p.Close()
	})
}

func newNodeRow(n *export.Node) nodeRow {
	row := nodeRow{
		ID: int64(n.ID), Label: clean(n.Name), Title: clean(n.Title), Class: n.Class.String(), State: clean(n.State),
		Status: status(n), Hosts: int64(n.Hosts), Pages: int64(n.Pages), Visited: int64(n.Visited),
		FirstRun: int64(n.First), LastRun: int64(n.Last),
		Degree: int64(n.InDegree) + int64(n.OutDegree), InDegree: int64(n.InDegree), OutDegree: int64(n.OutDegree),
		PageRank: n.PageRank, Harmonic: n.Harmonic, Component: int64(n.Component), Community: int64(n.Community),
	}
	if n.Page != nil {
		row.Domain, row.Entity, row.Site = clean(n.Host), clean(n.Entity), clean(n.Site)
	}
	if n.Depth != kv.NoDepth {
		d := int64(n.Depth)
		row.Depth = &d
	}
	if n.Placed {
		x, y := float64(n.X), -float64(n.Y) // upwards
		row.X, row.Y = &x, &y
	}
	return row
}

func newEdgeRow(l *export.Link) edgeRow {
	row := edgeRow{
		Source: int64(l.From), Target: int64(l.To), Weight: int64(l.Links), Pages: int64(l.Pages), Editorial: l.Share(),
		FirstRun: int64(l.First), LastRun: int64(l.Last),
	}
	if l.Page != nil {
		row.Kind, row.Rel, row.Place = l.Page.Kinds.First().String(), l.Page.Rel.String(), l.Page.Where()
		row.Anchor = clean(l.Page.Anchor)
	}
	return row
}
