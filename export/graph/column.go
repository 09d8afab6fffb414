package graph

import (
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
)

// A kind is the type of a column.
type kind uint8

const (
	text kind = iota
	integer
	real
)

// A value is one cell; of a kind that its column names.
type value struct {
	text  string
	count int64
	real  float64
	none  bool
}

// A column is one fact of all nodes, or of all links.
type column[T any] struct {
	name string
	kind kind
	of   func(*T) value
}

func words(s string) value     { return value{text: s, none: s == ""} }
func number(n int64) value     { return value{count: n} }
func fraction(f float64) value { return value{real: f} }
func unless0(n int64) value    { return value{count: n, none: n == 0} }
func depth(d uint8) value      { return value{count: int64(d), none: d == kv.NoDepth} }

// appendNumber appends a number.
func (v value) appendNumber(b []byte, k kind) []byte {
	if k == real {
		return appendReal(b, v.real)
	}
	return strconv.AppendInt(b, v.count, 10)
}

// nodeColumns are the columns of nodes at a level, id and label left out.
func nodeColumns(level export.Level) []column[export.Node] {
	type node = export.Node
	columns := []column[node]{
		{"title", text, func(n *node) value { return words(n.Title) }},
		{"class", text, func(n *node) value { return words(n.Class.String()) }},
		{"depth", integer, func(n *node) value { return depth(n.Depth) }},
		{"state", text, func(n *node) value { return words(n.State) }},
	}
	if level == export.LevelPage {
		columns = append(columns,
			column[node]{"domain", text, func(n *node) value { return words(n.Host) }},
			column[node]{"entity", text, func(n *node) value { return words(n.Entity) }},
			column[node]{"site", text, func(n *node) value { return words(n.Site) }},
			column[node]{"status_code", integer, func(n *node) value { return unless0(status(n)) }})
	} else {
		columns = append(columns,
			column[node]{"hosts", integer, func(n *node) value { return number(int64(n.Hosts)) }},
			column[node]{"pages", integer, func(n *node) value { return number(int64(n.Pages)) }},
			column[node]{"visited", integer, func(n *node) value { return number(int64(n.Visited)) }})
	}
	columns = append(columns,
		column[node]{"first_run", integer, func(n *node) value { return unless0(int64(n.First)) }},
		column[node]{"last_run", integer, func(n *node) value { return unless0(int64(n.Last)) }},
		column[node]{"degree", integer, func(n *node) value { return number(int64(n.InDegree) + int64(n.OutDegree)) }},
		column[node]{"in_degree", integer, func(n *node) value { return number(int64(n.InDegree)) }},
		column[node]{"out_degree", integer, func(n *node) value { return number(int64(n.OutDegree)) }},
		column[node]{"pagerank", real, func(n *node) value { return fraction(n.PageRank) }},
		column[node]{"harmonic", real, func(n *node) value { return fraction(n.Harmonic) }},
		column[node]{"component", integer, func(n *node) value { return number(int64(n.Component)) }},
		column[node]{"community", integer, func(n *node) value { return number(int64(n.Community)) }})
	if level != export.LevelPage {
		columns = append(columns,
			column[node]{"x", real, func(n *node) value { return fraction(float64(n.X)) }},
			column[node]{"y", real, func(n *node) value { return fraction(-float64(n.Y)) }}) // upwards
	}
	return columns
}

func status(n *export.Node) int64 {
	if n.Page == nil || n.Page.Visit == nil {
		return 0
	}
	return int64(n.Page.Visit.Status)
}

// linkColumns are the columns of links at a level, ends and weight left out.
func linkColumns(level export.Level) []column[export.Link] {
	type link = export.Link
	var columns []column[link]
	if level == export.LevelPage {
		columns = append(columns,
			column[link]{"kind", text, func(l *link) value { return words(l.Page.Kinds.First().String()) }},
			column[link]{"rel", text, func(l *link) value { return words(l.Page.Rel.String()) }},
			column[link]{"place", text, func(l *link) value { return words(l.Page.Where()) }},
			column[link]{"anchor", text, func(l *link) value { return words(l.Page.Anchor) }})
	}
	return append(columns,
		column[link]{"pages", integer, func(l *link) value { return number(int64(l.Pages)) }},
		column[link]{"editorial", real, func(l *link) value { return fraction(l.Share()) }},
		column[link]{"first_run", integer, func(l *link) value { return number(int64(l.First)) }},
		column[link]{"last_run", integer, func(l *link) value { return number(int64(l.Last)) }})
}

func (v value) string() string { return strconv.FormatInt(v.count, 10) }
