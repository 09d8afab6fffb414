package survey

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// WallSuspected is what [HostDetails.Wall] says of a host whose pages are likely a wall that no rule knows.
const WallSuspected = "suspected"

// The signs of a wall that no rule knows.
const (
	wallPages   = 10  // the fewest pages of HTML that mean anything
	wallWords   = 200 // a page of a wall has fewer words
	wallPercent = 80  // of the pages of HTML that must show nearly the same
)

// walls suspects hosts whose pages nearly all show the same few words and lead nowhere on their host. That is derived
// from all pages of a host, and changes neither their states nor their links.
type walls struct {
	core    *core
	stands  *stands
	hosts   *hosts
	tallies *tallies
	byHost  map[schema.HostID]bool
	all     bool // byHost has every host that is suspected
}

// of returns the rule that most of the walls of a host match, [WallSuspected], or "".
func (w *walls) of(tx *kv.Tx, id schema.HostID, t *hostTally) (string, error) {
	if rule := t.wallRule(); rule != "" || !t.maybeWall() {
		return rule, nil
	}
	suspected, known := w.byHost[id]
	if !known && !w.all {
		if err := w.derive(tx, id, t); err != nil {
			return "", err
		}
		suspected = w.byHost[id]
	}
	if suspected {
		return WallSuspected, nil
	}
	return "", nil
}

// wallRule returns the rule that most of the walls at a host match; "": no page met one.
func (h *hostTally) wallRule() string {
	if len(h.walls) == 0 {
		return ""
	}
	rules := slices.Sorted(maps.Keys(h.walls))
	return slices.MaxFunc(rules, func(a, b string) int { return cmp.Compare(h.walls[a], h.walls[b]) })
}

// maybeWall reports whether enough pages of a host are short for the host to be suspected.
func (h *hostTally) maybeWall() bool { return isWall(int(h.short), int(h.html)) }

// isWall reports whether n of all pages of HTML are enough.
func isWall(n, all int) bool { return all >= wallPages && 100*n >= wallPercent*all }

// isShort reports whether a page of HTML could be that of a wall, apart from its links. A page without words, as one of
// a gallery, is not: nothing tells that it shows the same as another.
func isShort(v *schema.Visit) bool {
	return v.WordCount > 0 && v.WordCount < wallWords && v.Shell == 0 && v.Rendering == 0
}

// derive reads the short pages of a host; of all hosts at once if their pages have been counted.
func (w *walls) derive(tx *kv.Tx, host schema.HostID, t *hostTally) error {
	counts := func(schema.HostID) *hostTally { return t }
	wanted := func(id schema.HostID) bool { return id == host }
	if tally := w.tallies.tally; tally != nil {
		counts = func(id schema.HostID) *hostTally { return &tally.hosts[id] }
		wanted = func(id schema.HostID) bool {
			h := counts(id)
			return h.maybeWall() && h.wallRule() == ""
		}
	}
	pages, ends := w.core.byHost(func(id schema.ID) bool {
		return w.core.isPage(id) && w.core.visited(id) && wanted(w.core.store.HostOf(id))
	})
	found := map[schema.HostID]bool{}
	for id := schema.HostID(1); int(id) < len(ends); id++ {
		own := pages[ends[id-1]:ends[id]]
		if len(own) == 0 {
			continue
		}
		alike, err := w.alike(tx, id, own)
		if err != nil {
			return err
		}
		found[id] = isWall(alike, int(counts(id).html))
	}
	if w.all = w.tallies.tally != nil; w.all || w.byHost == nil {
		w.byHost = found
		return nil
	}
	maps.Copy(w.byHost, found)
	return nil
}

// alike returns how many pages of a host are short, do not lead to another page of the host, and are near-duplicates of
// each other. A text that is too short for a SimHash is a near-duplicate of one that shows the same. Pages that do not
// exist are left out.
func (w *walls) alike(tx *kv.Tx, host schema.HostID, pages []schema.ID) (int, error) {
	probe, err := w.missing(tx, host)
	if err != nil {
		return 0, err
	}
	var printed []printedPage // whose id is their position
	first := map[schema.Shown]uint32{}
	var sets disjoint
	for _, id := range pages {
		v, err := w.stands.visit(tx, w.core.latest(id))
		if err = errors.Join(err, w.core.live()); err != nil {
			return 0, err
		}
		if !isHTML(v) || !isShort(v) || w.core.leadsOn(host, v.Links) ||
			probe != nil && missing.Compare(probe, &v.Content) != "" {
			continue
		}
		at := uint32(len(sets))
		sets = append(sets, at)
		if v.SimHash != 0 {
			printed = append(printed, printedPage{hash: v.SimHash, id: schema.ID(at)})
		}
		if before, met := first[v.Shown]; met {
			sets.join(before, at)
		} else if v.Shown != 0 {
			first[v.Shown] = at
		}
	}
	near, err := clusters(w.core.live, printed)
	if err != nil {
		return 0, err
	}
	for _, cluster := range near {
		for _, p := range cluster[1:] {
			sets.join(uint32(cluster[0].id), uint32(p.id))
		}
	}
	most, sizes := 0, map[uint32]int{}
	for at := range sets {
		root := sets.root(uint32(at))
		sizes[root]++
		most = max(most, sizes[root])
	}
	return most, nil
}

// missing returns what a host answered for a page that does not exist, if its front page shows something else; nil: the
// answer says nothing, as a wall is shown at every address.
func (w *walls) missing(tx *kv.Tx, host schema.HostID) (*schema.MissingProbe, error) {
	h, err := w.hosts.host(tx, host)
	if err != nil || h.probe == nil || missing.MannerOf(h.probe) != missing.Soft {
		return nil, err
	}
	page, known, err := w.core.lookup(front(h.name))
	if err != nil || !known {
		return nil, err
	}
	at := func(id schema.ID) (schema.Seq, error) { return w.core.latest(id), nil }
	f, v, err := (&hands{core: w.core, stands: w.stands, hosts: w.hosts}).front(tx, host, page, at)
	if err != nil || f == nil || f.To != "" || missing.Compare(h.probe, &v.Content) != "" {
		return nil, err
	}
	return h.probe, nil
}

// leadsOn reports whether one of the links of a page leads to another page of its host.
func (c *core) leadsOn(host schema.HostID, links []schema.Link) bool {
	return slices.ContainsFunc(links, func(l schema.Link) bool { return c.store.HostOf(l.To) == host })
}
