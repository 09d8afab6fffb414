package atlas

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/sumi-ripple/ripple/schema/sanitize"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// data is the graph as the viewer reads it: texts as lists, numbers as columns of little-endian values
// in base64. The values have 32 bits; scores have 64.
type data struct {
	Level     string   `json:"level"`
	Names     []string `json:"names"`
	Titles    []string `json:"titles"`
	Classes   []string `json:"classes"`
	Palette   []Shade  `json:"palette"`
	Covers    []string `json:"covers"`
	Stances   []string `json:"stances"` // on training
	Reasons   []string `json:"reasons"`
	Busiest   [][]link `json:"busiest"`
	Class     column   `json:"class"`
	Cover     column   `json:"cover"`
	Stance    column   `json:"stance"`
	Community column   `json:"community"`
	Depth     column   `json:"depth"`
	X         column   `json:"x"`
	Y         column   `json:"y"`
	Trust     column   `json:"trust"`
	PageRank  column   `json:"pagerank"`
	Harmonic  column   `json:"harmonic"`
	In        column   `json:"in"`
	Out       column   `json:"out"`
	Pages     column   `json:"pages"`
	Visited   column   `json:"visited"`
	From      column   `json:"from"`
	To        column   `json:"to"`
	Weight    column   `json:"weight"`
	Counts    string   `json:"counts"`  // numbers of nodes and links
	Counted   string   `json:"counted"` // the links that count
	Other     *other   `json:"other"`   // null: no other view
	Outside   *layer   `json:"outside,omitempty"`

	// Shown maps nodes to their names for display, where these differ; see [weburl.ShownIfOther].
	Shown map[int]string `json:"shown,omitempty"`

	More    []string   `json:"more,omitempty"`    // names
	Figures [][]string `json:"figures,omitempty"` // by node, parallel to More

	*caption
}

// other holds the columns of the other view, which replace those of the same name.
type other struct {
	Counts    string `json:"counts"`
	Community column `json:"community"`
	X         column `json:"x"`
	Y         column `json:"y"`
	Trust     column `json:"trust"`
	PageRank  column `json:"pagerank"`
	Harmonic  column `json:"harmonic"`
	Weight    column `json:"weight"`
}

// layer is the layer of hosts outside: links lead from the hosts in it to nodes.
type layer struct {
	Release  string         `json:"release"`
	All      int            `json:"all"`
	Names    []string       `json:"names"`
	Shown    map[int]string `json:"shown,omitempty"` // see data.Shown
	Harmonic column         `json:"harmonic_rank"`
	PageRank column         `json:"pagerank_rank"`
	From     column         `json:"from"`
	To       column         `json:"to"`
}

// A caption is the text above the map on a standalone page.
type caption struct {
	LeftOut string `json:"left_out"`
	Run     string `json:"run"`
	Status  string `json:"status"`
	Partial string `json:"partial"`
}

// A link is a link to a page: URL, title, incoming links.
type link [3]any

// A column is a list of 32-bit values, or of 64-bit values.
type column []byte

func (c column) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, c), nil
}

func (c *column) put(v uint32) { *c = binary.LittleEndian.AppendUint32(*c, v) }

// double appends a score as 64 bits, the precision of all other outputs. A value that is not finite
// becomes 0.
func (c *column) double(f float64) {
	if !(math.Abs(f) <= math.MaxFloat64) {
		f = 0
	}
	*c = binary.LittleEndian.AppendUint64(*c, math.Float64bits(f))
}

// amount appends a count.
func (c *column) amount(n int) { c.put(uint32(min(max(n, 0), math.MaxUint32))) }

// label appends a number that may be unknown.
func (c *column) label(n int) { c.put(uint32(int32(min(max(n, -1), math.MaxInt32)))) }

// real appends a coordinate. A value that is not finite becomes 0.
func (c *column) real(f float64) {
	if !(math.Abs(f) <= math.MaxFloat32) {
		f = 0
	}
	c.put(math.Float32bits(float32(f)))
}

// mostURL is the maximum length of a page URL in the map, in bytes. The desk cuts longer texts.
const mostURL = 2000

// mostTitle is the maximum length of a title in the map, in bytes.
const mostTitle = 160

// JSON returns the map, pruned (see [Map.Pruned]), in the form that the viewer's show function
// reads. An error describes a fault in m.
func (m Map) JSON() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("map: %w", err)
	}
	m = m.Pruned()
	return m.encode(&caption{LeftOut: m.leftOut(), Run: line(m.Run), Status: line(m.Status),
		Partial: line(m.Partial)})
}

// data returns the graph as JSON without <, > and &.
func (m Map) data() ([]byte, error) { return m.encode(nil) }

func (m Map) encode(c *caption) ([]byte, error) {
	d := data{
		caption: c,
		Level:   line(m.Level), Palette: m.Palette, Names: []string{}, Titles: []string{}, Reasons: []string{},
		Busiest: [][]link{}, Classes: []string{}, Covers: []string{}, Stances: []string{}, Counts: m.counts(),
		Counted: line(m.Counted),
	}
	for _, name := range m.More {
		d.More = append(d.More, line(name))
	}
	classes, covers, stances := map[string]int{}, map[string]int{}, map[string]int{}
	for v, n := range m.Nodes {
		d.Class.label(numbered(&d.Classes, classes, line(n.Class)))
		d.Cover.label(numbered(&d.Covers, covers, line(cmp.Or(n.Cover, "unknown"))))
		d.Stance.label(numbered(&d.Stances, stances, line(cmp.Or(n.Training, "no preference"))))
		d.node(n, m.Points[v])
	}
	for _, e := range m.Edges {
		d.From.put(e.From)
		d.To.put(e.To)
		d.Weight.put(e.Weight)
	}
	if m.Other != nil {
		d.Other = m.other()
	}
	if m.Outside != nil && len(m.Outside.Hosts) > 0 {
		d.Outside = m.Outside.layer()
	}
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(d)
	return b.Bytes(), err
}

// other returns the columns of the other view.
func (m Map) other() *other {
	o := &other{Counts: m.countsBy(func(e *Edge) uint32 { return e.Other })}
	for v, s := range m.Other.Scores {
		o.Community.label(s.Community)
		o.X.real(float64(m.Other.Points[v].X))
		o.Y.real(float64(m.Other.Points[v].Y))
		o.Trust.double(s.Trust)
		o.PageRank.double(s.PageRank)
		o.Harmonic.double(s.Harmonic)
	}
	for _, e := range m.Edges {
		o.Weight.put(e.Other)
	}
	return o
}

// layer returns the columns of the layer.
func (o *Outside) layer() *layer {
	l := &layer{Release: line(o.Release), All: o.All, Shown: map[int]string{}}
	for i, h := range o.Hosts {
		l.Names = append(l.Names, line(h.Name))
		if reading := weburl.Reading(h.Name); reading != "" {
			l.Shown[i] = line(h.Name) + reading
		}
		l.Harmonic.put(h.HarmonicRank)
		l.PageRank.put(h.PageRank)
		for _, to := range h.To {
			l.From.put(uint32(i))
			l.To.put(to)
		}
	}
	return l
}

// numbered returns the index of a word in a list. It adds new words.
func numbered(list *[]string, places map[string]int, word string) int {
	place, ok := places[word]
	if !ok {
		place = len(*list)
		places[word] = place
		*list = append(*list, word)
	}
	return place
}

// lines cleans n texts for the page.
func lines(texts []string, n int) []string {
	fit := make([]string, n)
	for i, text := range texts[:min(n, len(texts))] {
		fit[i] = line(text)
	}
	return fit
}

func (d *data) node(n Node, p Point) {
	if reading := weburl.Reading(n.Name); reading != "" {
		if d.Shown == nil {
			d.Shown = map[int]string{}
		}
		d.Shown[len(d.Names)] = line(n.Name) + reading
	}
	d.Names = append(d.Names, line(n.Name))
	d.Titles = append(d.Titles, sanitize.Line(n.Title, mostTitle))
	d.Reasons = append(d.Reasons, line(n.Reason))
	busiest := make([]link, 0, len(n.Busiest))
	for _, p := range n.Busiest {
		// No other URL may become a link on the page. A cut URL would lead elsewhere.
		if strings.HasPrefix(p.URL, "https://") && len(p.URL) <= mostURL {
			busiest = append(busiest, link{sanitize.Line(p.URL, mostURL), sanitize.Line(p.Title, mostTitle), p.In})
		}
	}
	d.Busiest = append(d.Busiest, busiest)
	d.X.real(float64(p.X))
	d.Y.real(float64(p.Y))
	d.Community.label(n.Community)
	d.Depth.label(n.Depth)
	d.Trust.double(n.Trust)
	d.PageRank.double(n.PageRank)
	d.Harmonic.double(n.Harmonic)
	d.In.amount(n.In)
	d.Out.amount(n.Out)
	d.Pages.amount(n.Pages)
	d.Visited.amount(n.Visited)
	if len(d.More) > 0 {
		d.Figures = append(d.Figures, lines(n.More, len(d.More)))
	}
}
