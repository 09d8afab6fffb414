package answer

import (
	"cmp"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/webgraph"
)

// The in-links from outside the terrain as programs read them.
type (
	Inlinks struct {
		Release    *string        `json:"release"`         // of the web graph; null: none was read
		Sample     bool           `json:"sample"`          // the graph is made from a sample of the web: always true
		Level      string         `json:"level,omitempty"` // "host" or "domain"
		ReadAt     *time.Time     `json:"read_at"`
		Ranked     bool           `json:"ranked"`
		Origins    []InlinkOrigin `json:"origins"`     // in the order of the configuration at that time
		HostCount  int            `json:"host_count"`  // hosts or domains that link to at least that many origins
		KnownCount int            `json:"known_count"` // left out: the terrain knew them
		Hosts      []InlinkHost   `json:"hosts"`       // those that link to the most origins first, then by harmonic rank
	}
	InlinkOrigin struct {
		Origin string `json:"origin"`
		Found  int    `json:"graph_hosts"` // its hosts in the graph; 0: the graph does not know it
		Hosts  int    `json:"host_count"`  // that link to it, from outside
	}
	InlinkHost struct {
		Host         string   `json:"host"` // in a graph of domains a domain
		Site         string   `json:"site"`
		HarmonicRank *int     `json:"harmonic_rank"` // null: unknown
		PageRank     *int     `json:"pagerank_rank"`
		Origins      []string `json:"origins"`
	}
)

// NewInlinks returns at most limit of the hosts outside that link to at least some number of origins.
func NewInlinks(s *survey.Survey, minOrigins, limit int) (*Inlinks, error) {
	a := &Inlinks{Sample: true, Origins: []InlinkOrigin{}, Hosts: []InlinkHost{}}
	g, ok, err := s.Graph()
	if err != nil || !ok {
		return a, err
	}
	a.Release, a.Level, a.ReadAt, a.Ranked, a.KnownCount = &g.Release, levelOf(&g), &g.ReadAt, g.Ranked, int(g.Known)
	for n, name := range g.Origins {
		a.Origins = append(a.Origins, InlinkOrigin{Origin: name, Found: int(g.Found[n])})
	}
	best := webgraph.Foremost{Limit: limit}
	err = s.EachInlink(func(l *schema.Inlink) error {
		for _, n := range l.Origins {
			a.Origins[n].Hosts++
		}
		if len(l.Origins) < minOrigins {
			return nil
		}
		a.HostCount++
		best.Add(l)
		return nil
	})
	for _, l := range best.All() {
		a.Hosts = append(a.Hosts, newInlinkHost(&g, &l))
	}
	return a, err
}

func levelOf(g *schema.Graph) string {
	if g.Domains {
		return "domain"
	}
	return "host"
}

func newInlinkHost(g *schema.Graph, l *schema.Inlink) InlinkHost {
	h := InlinkHost{Host: l.Host, Site: webgraph.Site(l), HarmonicRank: rank(l.HarmonicRank), PageRank: rank(l.PageRank)}
	for _, n := range l.Origins {
		h.Origins = append(h.Origins, g.Origins[n])
	}
	return h
}

func rank(position uint32) *int {
	if position == 0 {
		return nil
	}
	n := int(position)
	return &n
}

// InlinkColumns returns the columns of [WriteInlinks].
func InlinkColumns() []string {
	return []string{"origin", "host", "site", "release", "harmonic_rank", "pagerank_rank"}
}

// WriteInlinks writes the links from all hosts outside that link to at least some number of origins, by host.
func WriteInlinks(w RowWriter, s *survey.Survey, minOrigins int) error {
	g, ok, err := s.Graph()
	if err != nil || !ok {
		return cmp.Or(err, w.End())
	}
	err = s.EachInlink(func(l *schema.Inlink) error {
		if len(l.Origins) < minOrigins {
			return nil
		}
		h := newInlinkHost(&g, l)
		for _, origin := range h.Origins {
			row := []any{origin, h.Host, h.Site, g.Release, positionOrNull(h.HarmonicRank), positionOrNull(h.PageRank)}
			if _, err := w.Row(row); err != nil {
				return err
			}
		}
		return nil
	})
	return cmp.Or(err, w.End())
}

func positionOrNull(n *int) any {
	if n == nil {
		return nil
	}
	return int64(*n)
}
