package export

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// A Kind is the type of a column.
type Kind uint8

// The kinds.
const (
	Text Kind = iota
	Integer
	Real
	Key // 16 bytes, written as text; Parquet only
)

// A Value is one cell, of the kind of its column.
type Value struct {
	Text  string
	Count int64
	Real  float64
	None  bool // unknown
}

// A Column is one figure of all nodes, or of all links.
type Column[T any] struct {
	Name   string // the same in every format
	Kind   Kind
	Title  string // label on the cards of the map; empty: not listed, or the cards have text for it
	Levels Levels // the levels of the graphs that have it
	SQL    Tables // tables of the SQLite export that have it; 0: none
	Form   Form   // in Parquet
	Of     func(*T) Value
}

// Levels is a set of levels.
type Levels uint8

// The sets of levels for columns. A column that only the SQLite export has belongs to no level.
const (
	OfPages    Levels = 1 << LevelPage
	AbovePages Levels = 1<<LevelHost | 1<<LevelEntity | 1<<LevelSite
	AllLevels         = OfPages | AbovePages
)

// Has reports whether a level is in the set.
func (s Levels) Has(l Level) bool { return s&(1<<l) != 0 }

// Tables is a set of tables of the SQLite export. Columns not specified in terrain.sql (package schema)
// come after those that are.
type Tables uint8

// The tables that columns can be in.
const (
	InLevels Tables = 1 << iota // of nodes: sites and entities; of links: host_links, site_links and entity_links
	InLinks                     // of links: links
)

// A Form is how Parquet stores a column.
type Form uint8

// The forms. A column that is not nullable is in the files of every level.
const (
	Nullable   Form = 1 << iota // null at other levels, and for unknown values
	Dictionary                  // few distinct values
)

// Columns are the figures of nodes and links. To add one, add an entry to nodeColumns or linkColumns; every format of
// package graph except OPML then has it at its Levels. SQLite has it in the tables of the entry. SQLite's tables pages
// and hosts are those of terrain.sql (package schema), filled in by row.go of package sqlite. The cards of the map,
// which does not show pages, list it if it has a Title; most have none, because the cards describe them in words of
// their own. A fact that [Node] does not have yet must be filled in by pageNode and [Fold].
//
// A figure computed from the links alone (a field of [Measures], computed by MetricsOf) is an entry in
// measureColumns instead. It is then a figure of the nodes as well. The metric tables of SQLite have
// it; their rows are written when the pages themselves are no longer available.
type Columns struct {
	Nodes    []Column[Node]
	Links    []Column[Link]
	Measures []Column[Measures]
}

// AllColumns returns all figures except ids, names, ends and weights.
func AllColumns() *Columns {
	return &Columns{Nodes: nodeColumns(), Links: linkColumns(), Measures: measureColumns()}
}

func nodeColumns() []Column[Node] {
	type node = Node
	all := []Column[node]{
		figure("title", Text, AllLevels, func(n *node) Value { return words(n.Title) }).as(Nullable),
		figure("class", Text, AllLevels, func(n *node) Value { return words(n.class()) }).as(Dictionary),
		figure("depth", Integer, AllLevels, depth).as(Nullable),
		figure("state", Text, AllLevels, func(n *node) Value { return words(n.State) }).as(Dictionary),
		figure("domain", Text, OfPages, func(n *node) Value { return words(n.Host) }).as(Nullable | Dictionary),
		figure("entity", Text, OfPages, func(n *node) Value { return words(n.Entity) }).as(Nullable),
		figure("site", Text, OfPages, func(n *node) Value { return words(n.Site) }).as(Nullable | Dictionary),
		figure("status_code", Integer, OfPages, status).as(Nullable),
		figure("answer", Text, OfPages, answered).as(Nullable | Dictionary),
		figure("hosts", Integer, AbovePages, func(n *node) Value { return number(n.Hosts) }).in(InLevels),
		figure("pages", Integer, AbovePages, func(n *node) Value { return number(n.Pages) }).in(InLevels),
		figure("visited", Integer, AbovePages, func(n *node) Value { return number(n.Visited) }),
		figure("first_run", Integer, AllLevels, func(n *node) Value { return unless0(n.First) }).as(Nullable).
			titled("first met in run"),
		figure("last_run", Integer, AllLevels, func(n *node) Value { return unless0(n.Last) }).as(Nullable).
			titled("last met in run"),
		figure("degree", Integer, AllLevels, degree),
	}
	for _, c := range measureColumns() {
		all = append(all, ofNodes(c))
	}
	return append(all,
		figure("x", Real, AbovePages, func(n *node) Value { return place(n, n.X) }).as(Nullable),
		figure("y", Real, AbovePages, func(n *node) Value { return place(n, -n.Y) }).as(Nullable), // upwards
		figure("tags", Text, AllLevels, func(n *node) Value { return words(n.Tags) }).as(Nullable).titled("tags"),
		figure("note", Text, AllLevels, func(n *node) Value { return words(n.Note) }).as(Nullable).titled("note"),
		figure("preferences", Text, AllLevels, func(n *node) Value { return words(preference.Applied(n.Said)) }).as(Nullable).
			titled("preferences"),
		figure("wall", Text, AbovePages, func(n *node) Value { return words(n.Wall) }).as(Nullable|Dictionary).titled("wall"),
		figure("missing_pages", Text, AbovePages, func(n *node) Value { return words(n.Missing) }).as(Nullable|Dictionary).
			titled("missing pages"),
		figure("walled", Integer, AbovePages, func(n *node) Value { return number(n.Walled) }).titled("walled pages"),
		figure("parked", Text, AbovePages, func(n *node) Value { return words(n.Parked) }).as(Nullable|Dictionary).
			titled("for sale, by rule"),
	)
}

// ofNodes returns a measure as a column of the nodes. In SQLite only the metric tables have it.
func ofNodes(c Column[Measures]) Column[Node] {
	return Column[Node]{
		Name: c.Name, Kind: c.Kind, Title: c.Title, Levels: c.Levels, Form: c.Form,
		Of: func(n *Node) Value { return c.Of(&n.Measures) },
	}
}

func measureColumns() []Column[Measures] {
	type measures = Measures
	return []Column[measures]{
		figure("in_degree", Integer, AllLevels, func(m *measures) Value { return number(m.InDegree) }),
		figure("out_degree", Integer, AllLevels, func(m *measures) Value { return number(m.OutDegree) }),
		figure("trust", Real, AllLevels, func(m *measures) Value { return fraction(m.Trust) }),
		figure("pagerank", Real, AllLevels, func(m *measures) Value { return fraction(m.PageRank) }),
		figure("harmonic", Real, AllLevels, func(m *measures) Value { return fraction(m.Harmonic) }),
		figure("component", Integer, AllLevels, func(m *measures) Value { return number(m.Component) }),
		figure("community", Integer, AllLevels, func(m *measures) Value { return number(m.Community) }),
	}
}

func linkColumns() []Column[Link] {
	type link = Link
	return []Column[link]{
		figure("pages", Integer, AllLevels, func(l *link) Value { return number(l.Pages) }).in(InLevels),
		figure("editorial", Integer, AllLevels, func(l *link) Value { return number(l.Endorsements) }).in(InLevels),
		figure("kind", Text, OfPages, func(l *link) Value { return words(l.Page.Kinds.First().String()) }).
			in(InLinks).as(Nullable | Dictionary),
		figure("rel", Text, OfPages, func(l *link) Value { return words(l.Page.Rel.String()) }).
			in(InLinks).as(Nullable | Dictionary),
		figure("place", Text, OfPages, func(l *link) Value { return words(l.Page.Where()) }).
			in(InLinks).as(Nullable | Dictionary),
		figure("anchor", Text, OfPages, func(l *link) Value { return words(l.Page.Anchor) }).in(InLinks).as(Nullable),
		figure("rendered", Integer, OfPages, func(l *link) Value { return truth(l.Page.Rendered) }).in(InLinks).as(Nullable),
		figure("first_run", Integer, AllLevels, func(l *link) Value { return number(l.First) }).in(InLevels),
		figure("last_run", Integer, AllLevels, func(l *link) Value { return number(l.Last) }).in(InLevels | InLinks),
		figure("sitewide", Integer, AllLevels, func(l *link) Value { return number(l.SiteWide) }).in(InLevels | InLinks),
	}
}

// figure returns a column that is in no SQLite table and not nullable in Parquet.
func figure[T any](name string, kind Kind, levels Levels, of func(*T) Value) Column[T] {
	return Column[T]{Name: name, Kind: kind, Levels: levels, Of: of}
}

// in sets the tables of the SQLite export that have the column.
func (c Column[T]) in(tables Tables) Column[T] {
	c.SQL = tables
	return c
}

// as sets how Parquet stores the column.
func (c Column[T]) as(form Form) Column[T] {
	c.Form = form
	return c
}

// titled lists the column on the cards of the map.
func (c Column[T]) titled(title string) Column[T] {
	c.Title = title
	return c
}

// NodeColumns returns the columns of the graph's nodes.
func (g *Graph) NodeColumns() []Column[Node] { return at(g.columns.Nodes, g.opts.Level) }

// LinkColumns returns the columns of the graph's links. Columns for pages only come first.
func (g *Graph) LinkColumns() []Column[Link] {
	all := at(g.columns.Links, g.opts.Level)
	slices.SortStableFunc(all, func(a, b Column[Link]) int { return int(a.Levels&^OfPages) - int(b.Levels&^OfPages) })
	return all
}

// Columns returns all columns, including those of other levels.
func (g *Graph) Columns() *Columns { return g.columns }

func at[T any](all []Column[T], level Level) (kept []Column[T]) {
	for _, c := range all {
		if c.Levels.Has(level) {
			kept = append(kept, c)
		}
	}
	return kept
}

func words(s string) Value { return Value{Text: s, None: s == ""} }
func truth(on bool) Value {
	if on {
		return Value{Count: 1}
	}
	return Value{}
}

func number[T ~int | ~int32 | ~uint32](n T) Value { return Value{Count: int64(n)} }
func fraction(f float64) Value                    { return Value{Real: f} }
func unless0[T ~int | ~uint32](n T) Value         { return Value{Count: int64(n), None: n == 0} }
func place(n *Node, at float32) Value             { return Value{Real: float64(at), None: !n.Placed} }

func depth(n *Node) Value { return Value{Count: int64(n.Depth), None: n.Depth == kv.NoDepth} }

func degree(n *Node) Value { return Value{Count: int64(n.InDegree) + int64(n.OutDegree)} }

func answered(n *Node) Value {
	if n.Page == nil {
		return Value{None: true}
	}
	return words(n.Page.Answer.String())
}

func status(n *Node) Value {
	if n.Page == nil {
		return Value{None: true}
	}
	return unless0(n.Page.Status())
}
