package export

import (
	"math"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/webgraph"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An Outside is what a web graph knows of a host outside the terrain, or of a domain.
type Outside struct {
	Release                string // of the graph
	HarmonicRank, PageRank uint32 // positions from 1; 0: unknown
}

// outsiders are the hosts outside the terrain that [Options.Inlinks] adds. Each iteration reads them.
type outsiders struct {
	release string
	doors   []uint32 // by origin of the web graph: the node to which links to it lead; 0: none
}

// findOutside finds where in-links lead.
func (g *Graph) findOutside() error {
	web, ok, err := g.survey.Graph()
	if err != nil || !ok {
		return err
	}
	g.outside.release = web.Release
	if g.opts.Level == LevelPage {
		g.outside.doors, err = g.frontPages(web.Origins)
	} else {
		g.outside.doors = g.frontNodes(web.Origins)
	}
	return err
}

// frontPages returns the front page of each origin or, if it is not in the graph, the page that was met first.
func (g *Graph) frontPages(origins []string) ([]uint32, error) {
	doors := make([]uint32, len(origins))
	for i, name := range origins {
		for _, host := range frontHosts(name) {
			id, known, err := g.survey.Lookup("https://" + host + "/")
			if err != nil {
				return nil, err
			}
			if _, ok := g.Rank(uint32(id)); known && ok && doors[i] == 0 {
				doors[i] = uint32(id)
			}
		}
	}
	number := g.originNumbers(origins)
	return doors, g.survey.EachPlace(func(p *survey.Page) error {
		if _, ok := g.Rank(uint32(p.ID)); !ok {
			return nil
		}
		for _, n := range g.survey.Scope().OriginsOf(p.HostName) {
			if i, ok := number[n]; ok && doors[i] == 0 {
				doors[i] = uint32(p.ID)
			}
		}
		return nil
	})
}

// frontNodes returns the node with the host of each origin or, if that is not in the graph, the first node of one of
// its hosts.
func (g *Graph) frontNodes(origins []string) []uint32 {
	named := make(map[string]uint32, len(g.nodes))
	for i := range g.nodes {
		named[g.nodes[i].Name] = g.nodes[i].ID
	}
	doors := make([]uint32, len(origins))
	for i, name := range origins {
		for _, host := range frontHosts(name) {
			switch g.opts.Level {
			case LevelSite:
				host = weburl.Site(host)
			case LevelEntity:
				host = g.survey.Scope().Entity("https://" + host + "/")
			}
			if doors[i] == 0 {
				doors[i] = named[host]
			}
		}
	}
	number := g.originNumbers(origins)
	for i := range g.nodes {
		for _, n := range g.survey.Scope().OriginsOf(g.nodes[i].Host) {
			if at, ok := number[n]; ok && doors[at] == 0 {
				doors[at] = g.nodes[i].ID
			}
		}
	}
	return doors
}

// frontHosts returns the hosts that may have the front page of an origin.
func frontHosts(origin string) []string {
	host := strings.TrimPrefix(origin, "*.")
	return []string{host, "www." + host}
}

// originNumbers returns the places of names in a list by the numbers of these origins in the scope.
func (g *Graph) originNumbers(names []string) map[int]int {
	number := map[int]int{}
	for n, origin := range g.survey.Scope().Origins() {
		for i, name := range names {
			if name == origin.Name {
				number[n] = i
			}
		}
	}
	return number
}

// eachOutside calls f for every host outside that links to a node, with its number and the nodes, one for each origin.
func (g *Graph) eachOutside(f func(n int, l *schema.Inlink, to []uint32) error) error {
	if len(g.outside.doors) == 0 {
		return nil
	}
	n := 0
	var to []uint32
	return g.survey.EachOutside(func(l *schema.Inlink) error {
		if err := g.ended(); err != nil {
			return err
		}
		if to = g.doorsOf(l, to[:0]); len(to) == 0 {
			return nil
		}
		n++
		return f(n-1, l, to)
	})
}

// OutsideCount counts the nodes of [Graph.EachOutside].
func (g *Graph) OutsideCount() (n int, err error) {
	err = g.eachOutside(func(int, *schema.Inlink, []uint32) error {
		n++
		return nil
	})
	return n, err
}

// ForemostOutside returns the first nodes of [Graph.EachOutside] by [webgraph.Foremost], with the ids of the nodes to
// which they link, and the number of all.
func (g *Graph) ForemostOutside(limit int) (first []schema.Inlink, to [][]uint32, all int, err error) {
	best := webgraph.Foremost{Limit: limit}
	err = g.eachOutside(func(_ int, l *schema.Inlink, _ []uint32) error {
		best.Add(l)
		all++
		return nil
	})
	first = best.All()
	for i := range first {
		doors := g.doorsOf(&first[i], nil)
		slices.Sort(doors)
		to = append(to, slices.Compact(doors))
	}
	return first, to, all, err
}

// doorsOf appends the nodes to which a host outside links, one for each origin, to a list.
func (g *Graph) doorsOf(l *schema.Inlink, to []uint32) []uint32 {
	for _, origin := range l.Origins {
		if door := g.outside.doors[origin]; door != 0 {
			to = append(to, door)
		}
	}
	return to
}

// outsideID returns the id of an outside host: they follow those of all nodes of the level.
func (g *Graph) outsideID(n int) uint32 { return uint32(len(g.rank) + n) }

// EachOutside calls f for the hosts outside the terrain that [Options.Inlinks] adds, in the order of the labels of
// their names from the right. They are nodes of no other method, and are part of no measure. With a picture, they have
// positions around it. A node is valid only during the call.
func (g *Graph) EachOutside(f func(*Node) error) error {
	place := g.around()
	return g.eachOutside(func(n int, l *schema.Inlink, _ []uint32) error {
		node := Node{
			ID: g.outsideID(n), Name: l.Host, Host: l.Host, Site: webgraph.Site(l), Depth: kv.NoDepth,
			Hosts: max(1, int(l.Hosts)), Radius: 1,
			Outside: &Outside{g.outside.release, l.HarmonicRank, l.PageRank},
		}
		node.X, node.Y, node.Placed = place(n)
		return f(&node)
	})
}

// EachInlink calls f for the links of outside hosts, in the order of [Graph.EachOutside]. The weight of a link is the
// number of origins of its target; which pages link is unknown. A link is valid only during the call.
func (g *Graph) EachInlink(f func(*Link) error) error {
	return g.eachOutside(func(n int, _ *schema.Inlink, to []uint32) error {
		slices.Sort(to)
		for len(to) > 0 {
			same := 1
			for same < len(to) && to[same] == to[0] {
				same++
			}
			if err := f(&Link{From: g.outsideID(n), To: to[0], Links: same, Outside: true}); err != nil {
				return err
			}
			to = to[same:]
		}
		return nil
	})
}

// golden is the angle, in radians, between two outside hosts with successive numbers, as in a sunflower.
const golden = math.Pi * (3 - 2.23606797749979) // 3 - √5

// around returns a function that places outside hosts evenly around the picture; without a picture, nowhere.
func (g *Graph) around() func(n int) (x, y float32, placed bool) {
	p := g.view().picture
	if p == nil {
		return func(int) (float32, float32, bool) { return 0, 0, false }
	}
	const gap, each = 10, 16 // from the picture; square of the radius for each host
	far := 0.0
	for i, at := range p.At {
		far = max(far, math.Hypot(float64(at.X), float64(at.Y))+p.Radius[i])
	}
	return func(n int) (x, y float32, placed bool) {
		r, angle := math.Sqrt((far+gap)*(far+gap)+each*float64(n)), golden*float64(n)
		return float32(r * math.Cos(angle)), float32(r * math.Sin(angle)), true
	}
}
