package graph

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// parquetFiles writes nodes.parquet and edges.parquet. Both have the columns of all levels; those that
// only another level has are empty.
func parquetFiles(ctx context.Context, dir string, g *export.Graph, _ Options) ([]string, error) {
	const nodes, edges = "nodes.parquet", "edges.parquet"
	ids := identify(g)
	columns := g.Columns()
	node := slices.Concat(ids.node,
		[]export.Column[export.Node]{always(textColumn("label", func(n *export.Node) string { return n.Name }))},
		columns.Nodes)
	edge := slices.Concat(ids.edge,
		[]export.Column[export.Link]{always(numberColumn("weight", func(l *export.Link) int64 { return int64(l.Links) }))},
		columns.Links)
	err := parquetFile(ctx, filepath.Join(dir, nodes), g, "nodeRow", node, ids.eachNode)
	if err == nil {
		err = parquetFile(ctx, filepath.Join(dir, edges), g, "edgeRow", edge,
			func(f func(*export.Link) error) error { return eachLink(g, g.EachLink, f) })
	}
	return []string{nodes, edges}, err
}

// always returns a column that every level has.
func always[T any](c export.Column[T]) export.Column[T] {
	c.Levels = export.AllLevels
	return c
}

const (
	batchRows = 1 << 10
	groupRows = 1 << 17
)

// parquetFile writes rows in batches, and releases memory after each row group.
func parquetFile[T any](ctx context.Context, path string, g *export.Graph, name string,
	columns []export.Column[T], each func(func(*T) error) error) error {
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return err
	}
	b := newBatch(g.Level(), columns)
	options := []parquet.WriterOption{
		b.schema(name), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(groupRows),
	}
	for _, f := range facts(g) {
		options = append(options, parquet.KeyValueMetadata("ripple."+f.name, sanitize.Text(f.text)))
	}
	return atomicfile.Fill(ctx, path, func(w io.Writer) error {
		p := parquet.NewGenericWriter[any](w, options...)
		err := each(func(of *T) error {
			if b.add(of); len(b.rows) < batchRows {
				return nil
			}
			return b.flush(p)
		})
		if err != nil {
			return err
		}
		if err := b.flush(p); err != nil {
			return err
		}
		return p.Close()
	})
}

// A batch holds rows being filled. Their cells and texts are stored in two buffers, which are reused
// for the next batch.
type batch[T any] struct {
	level   export.Level
	columns []export.Column[T]
	rows    []parquet.Row
	cells   []parquet.Value
	text    []byte
}

func newBatch[T any](level export.Level, all []export.Column[T]) *batch[T] {
	b := &batch[T]{level: level, rows: make([]parquet.Row, 0, batchRows)}
	for _, c := range all {
		if c.Levels != 0 {
			b.columns = append(b.columns, c)
		}
	}
	b.cells = make([]parquet.Value, 0, batchRows*len(b.columns))
	return b
}

// schema returns the Parquet schema of the columns, in order.
func (b *batch[T]) schema(name string) *parquet.Schema {
	fields := make([]reflect.StructField, len(b.columns))
	for i, c := range b.columns {
		tag := c.Name
		if c.Form&export.Nullable != 0 {
			tag += ",optional"
		}
		if c.Form&export.Dictionary != 0 {
			tag += ",dict"
		}
		fields[i] = reflect.StructField{
			Name: "C" + strconv.Itoa(i), Tag: reflect.StructTag("parquet:" + strconv.Quote(tag)),
			Type: [...]reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int64](), reflect.TypeFor[float64](),
				reflect.TypeFor[key]()}[c.Kind],
		}
	}
	return parquet.NewSchema(name, parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}

func (b *batch[T]) add(of *T) {
	first := len(b.cells)
	for i := range b.columns {
		b.cells = append(b.cells, b.cell(i, of))
	}
	b.rows = append(b.rows, b.cells[first:len(b.cells):len(b.cells)])
}

// cell returns the value of a column at its position in the row.
func (b *batch[T]) cell(i int, of *T) parquet.Value {
	c := &b.columns[i]
	nullable := c.Form&export.Nullable != 0
	if nullable && !c.Levels.Has(b.level) {
		return parquet.NullValue().Level(0, 0, i)
	}
	v := c.Of(of)
	if nullable && v.None {
		return parquet.NullValue().Level(0, 0, i)
	}
	present := 0
	if nullable {
		present = 1
	}
	switch c.Kind {
	case export.Text:
		first := len(b.text)
		b.text = append(b.text, sanitize.Text(v.Text)...)
		return parquet.ByteArrayValue(b.text[first:len(b.text):len(b.text)]).Level(0, present, i)
	case export.Key:
		first := len(b.text)
		b.text = append(b.text, v.Text...)
		return parquet.FixedLenByteArrayValue(b.text[first:len(b.text):len(b.text)]).Level(0, present, i)
	case export.Real:
		return parquet.DoubleValue(v.Real).Level(0, present, i)
	}
	return parquet.Int64Value(v.Count).Level(0, present, i)
}

func (b *batch[T]) flush(p *parquet.GenericWriter[any]) error {
	_, err := p.WriteRows(b.rows)
	b.rows, b.cells, b.text = b.rows[:0], b.cells[:0], b.text[:0]
	return err
}
