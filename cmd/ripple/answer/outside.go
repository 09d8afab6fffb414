package answer

import (
	"strings"

	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/webgraph"
)

// The hosts outside the terrain that are worth adding to it, as programs read them.
type (
	Outside struct {
		Release *string         `json:"release"` // of the web graph; null: none was read
		Sample  bool            `json:"sample"`  // the graph is made from a sample of the web: always true
		Level   string          `json:"level,omitempty"`
		Origins int             `json:"origins"` // in the graph
		Hosts   []OutsideWorthy `json:"hosts"`   // those that link to the most origins first, then by harmonic rank
	}
	OutsideWorthy struct {
		InlinkHost
		Block string `json:"block,omitempty"` // empty: it cannot be the domain of an entry
	}
)

// NewOutside returns at most limit of the hosts outside that link to at least some number of origins. It leaves out
// those that lists or people have classified since the graph was read, or the terrain has met.
func NewOutside(s *survey.Survey, minOrigins, limit int) (*Outside, error) {
	a := &Outside{Sample: true, Hosts: []OutsideWorthy{}}
	g, ok, err := s.Graph()
	if err != nil || !ok {
		return a, err
	}
	a.Release, a.Level = &g.Release, levelOf(&g)
	for _, n := range g.Found {
		a.Origins += int(min(n, 1))
	}
	best := webgraph.Foremost{Limit: limit}
	err = s.EachOutside(func(l *schema.Inlink) error {
		if len(l.Origins) >= minOrigins && s.Scope().HostClass(l.Host).Class == schema.ClassDiscovered &&
			!s.Hosts.Noted(l.Host).Later {
			best.Add(l)
		}
		return nil
	})
	for _, l := range best.All() {
		a.Hosts = append(a.Hosts, OutsideWorthy{newInlinkHost(&g, &l), strings.TrimSpace(suggest.Block(l.Host, g.Domains))})
	}
	return a, err
}
