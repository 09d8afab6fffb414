package atlas

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/sumi-ripple/ripple/schema"
)

// data is the graph as the viewer reads it: text as lists, numbers as columns of
// 32-bit little-endian values in base64.
type data struct {
	Level     string   `json:"level"`
	Names     []string `json:"names"`
	Titles    []string `json:"titles"`
	Classes   []string `json:"classes"`
	Class     column   `json:"class"`
	Community column   `json:"community"`
	Depth     column   `json:"depth"`
	X         column   `json:"x"`
	Y         column   `json:"y"`
	PageRank  column   `json:"pagerank"`
	Harmonic  column   `json:"harmonic"`
	In        column   `json:"in"`
	Out       column   `json:"out"`
	Pages     column   `json:"pages"`
	Visited   column   `json:"visited"`
	From      column   `json:"from"`
	To        column   `json:"to"`
	Weight    column   `json:"weight"`
}

// A column is a list of 32-bit values.
type column []byte

func (c column) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, c), nil
}

func (c *column) put(v uint32) { *c = binary.LittleEndian.AppendUint32(*c, v) }

// amount puts a number of things.
func (c *column) amount(n int) { c.put(uint32(min(max(n, 0), math.MaxUint32))) }

// label puts a number that may be unknown.
func (c *column) label(n int) { c.put(uint32(int32(min(max(n, -1), math.MaxInt32)))) }

// real puts a score; what is none counts as 0.
func (c *column) real(f float64) {
	if !(math.Abs(f) <= math.MaxFloat32) {
		f = 0
	}
	c.put(math.Float32bits(float32(f)))
}

// mostTitle is how much of a title the map shows, in bytes.
const mostTitle = 160

// data returns the graph as JSON without <, > and &.
func (m Map) data() ([]byte, error) {
	d := data{Level: line(m.Level), Names: []string{}, Titles: []string{}, Classes: []string{}}
	classes := map[string]int{}
	for v, n := range m.Nodes {
		class := line(n.Class)
		if _, ok := classes[class]; !ok {
			classes[class] = len(classes)
			d.Classes = append(d.Classes, class)
		}
		d.Class.label(classes[class])
		d.node(n, m.Points[v])
	}
	for _, e := range m.Edges {
		d.From.put(e.From)
		d.To.put(e.To)
		d.Weight.put(e.Weight)
	}
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(d)
	return b.Bytes(), err
}

func (d *data) node(n Node, p Point) {
	d.Names = append(d.Names, line(n.Name))
	d.Titles = append(d.Titles, schema.Clean(n.Title, mostTitle))
	d.X.real(float64(p.X))
	d.Y.real(float64(p.Y))
	d.Community.label(n.Community)
	d.Depth.label(n.Depth)
	d.PageRank.real(n.PageRank)
	d.Harmonic.real(n.Harmonic)
	d.In.amount(n.In)
	d.Out.amount(n.Out)
	d.Pages.amount(n.Pages)
	d.Visited.amount(n.Visited)
}
