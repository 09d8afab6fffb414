package survey

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A StraySeed is a seed whose redirects end on a host outside its origin.
type StraySeed struct {
	Origin int
	Seed   string // as written
	End    string // identity of the page where they end
}

// StraySeeds returns the seeds that end outside their origin, in their order.
func StraySeeds(s *Survey) ([]StraySeed, error) {
	var stray []StraySeed
	err := s.core.view(func(tx *kv.Tx) error {
		for i, origin := range s.core.scope.Origins() {
			for _, seed := range origin.Seeds {
				end, err := s.redirects.endOf(tx, seed)
				if err != nil {
					return err
				}
				if end != "" && !slices.Contains(s.core.scope.OriginsOf(weburl.Host(end)), i) {
					stray = append(stray, StraySeed{i, seed, end})
				}
			}
		}
		return nil
	})
	return stray, err
}

// endOf returns the page where the redirects of a seed end; empty: the seed is unknown.
func (rd *redirects) endOf(tx *kv.Tx, seed string) (string, error) {
	u, err := rd.core.cfg.Rules().Parse(seed)
	if err != nil {
		return "", nil // the configuration was checked under its own rules
	}
	id, ok, err := rd.core.lookup(u.Norm)
	if err != nil || !ok {
		return "", err
	}
	for range schema.MaxRedirects {
		to, err := rd.redirectOf(tx, id)
		if err != nil {
			return "", err
		}
		if to == 0 {
			break
		}
		id = to
	}
	return tx.URLs.Norm(id)
}

// An Uncovered is a host below the domain of an origin that belongs to none,
// because the origin's domain is not a pattern.
type Uncovered struct {
	Origin  int
	Host    string
	Links   int    // from other hosts
	Pattern string // pattern for a [[quality]] entry that would cover it
}

// UncoveredSubdomains returns the subdomains of origins that were found in the run of
// [Survey.Since] or later but belong to no origin and no list: by origin, then by links, then by
// name. If there are any, it reads the links of all pages.
func UncoveredSubdomains(s *Survey) ([]Uncovered, error) {
	found, ids, err := s.uncovered()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	links, err := s.walks.linksTo(slices.Collect(maps.Values(ids)))
	if err != nil {
		return nil, err
	}
	met, err := s.pages.metSince(links)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(u Uncovered) bool { return !met[ids[u.Host]] })
	for i := range found {
		found[i].Links = links[ids[found[i].Host]]
	}
	slices.SortFunc(found, func(a, b Uncovered) int {
		return cmp.Or(cmp.Compare(a.Origin, b.Origin), cmp.Compare(b.Links, a.Links), cmp.Compare(a.Host, b.Host))
	})
	return found, nil
}

// uncovered returns such subdomains found by any run, with their ids.
func (s *Survey) uncovered() (found []Uncovered, ids map[string]schema.HostID, err error) {
	t, err := s.tallies.tallied()
	if err != nil {
		return nil, nil, err
	}
	ids = map[string]schema.HostID{}
	err = s.core.view(func(tx *kv.Tx) error {
		for i, origin := range s.core.scope.Origins() {
			if strings.HasPrefix(origin.Name, "*.") {
				continue
			}
			err := tx.Hosts.Below(origin.Name, func(host string, id schema.HostID) bool {
				if t.hosts[id].known > 0 && s.core.scope.HostClass(host).Class == schema.ClassDiscovered {
					found = append(found, Uncovered{Origin: i, Host: host, Pattern: "*." + origin.Name})
					ids[host] = id
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, ids, err
}

// linksTo counts the links from pages of [Survey.Speakers] on other hosts to each of some hosts.
func (ws *walks) linksTo(hosts []schema.HostID) (map[schema.HostID]int, error) {
	links := make(map[schema.HostID]int, len(hosts))
	for _, id := range hosts {
		links[id] = 0
	}
	speaks, err := ws.speakers()
	if err != nil {
		return nil, err
	}
	return links, ws.stands.eachTarget(func(l *kv.Targeted) error {
		if !speaks(l.URL) {
			return nil
		}
		for _, id := range l.To {
			to := ws.core.store.HostOf(id)
			if n, ok := links[to]; ok && to != ws.core.store.HostOf(l.URL) {
				links[to] = n + 1
			}
		}
		return nil
	})
}

// metSince returns which of some hosts, given with the number of links to each, the run of
// [Survey.Since] or a later one has met: other hosts link there, or a page of it was seen. It reads
// pages only of hosts without such links.
func (ps *pages) metSince(links map[schema.HostID]int) (map[schema.HostID]bool, error) {
	met, since := make(map[schema.HostID]bool, len(links)), ps.core.since()
	for id, n := range links {
		met[id] = n > 0
	}
	return met, ps.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= ps.core.urls(); id++ {
			host := ps.core.store.HostOf(id)
			if known, ok := met[host]; !ok || known || !ps.core.isPage(id) {
				continue
			}
			u, err := tx.URLs.At(id)
			if err = cmp.Or(err, ps.core.live()); err != nil {
				return err
			}
			p, err := ps.placed(tx, u)
			if err != nil {
				return err
			}
			met[host] = p.LastRun >= since
		}
		return nil
	})
}
