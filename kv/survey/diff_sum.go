package survey

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A HostChange counts the changes of a host's pages.
type HostChange struct {
	Host    schema.HostID
	Name    string
	Change  Change // Same: only its pages have changed
	Came    int
	Went    int
	Changed int
}

// A Rot counts the links of an origin's pages that lead to dead pages, where the later run visited
// both ends or could not reach the target. If the earlier run is an import, they are the links that it found.
type Rot struct {
	Origin int
	Links  int // to pages that the later run visited or could not reach
	Dead   int // of these: to pages that no longer have a good answer, or never had one
	New    int // of these: to pages that the earlier crawl neither found dead nor left unvisited for the same reason
	Mended int // links to pages that were dead and are no longer
}

// A DiffSum is the sum of a comparison.
type DiffSum struct {
	Came, Went, Changed  int // pages
	LinksCame, LinksWent int
	Hosts                []HostChange // with any change, by id
	Unvisited            []string     // see [Diff.unvisited]
	Rot                  []Rot        // by origin, those with links
	Hands                []NewHands   // by host
}

// Sum counts all changes.
func (d *Diff) Sum() (*DiffSum, error) {
	sum := &DiffSum{}
	hosts := make([]HostChange, d.s.core.store.Hosts()+1)
	err := d.eachPage(func(_ *kv.Tx, c *PageChange) error {
		h := &hosts[d.s.Hosts.Of(c.ID)]
		switch c.Change {
		case Came:
			sum.Came++
			h.Came++
		case Went:
			sum.Went++
			h.Went++
		default:
			sum.Changed++
			h.Changed++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = d.eachLink(func(_ *kv.Tx, c *LinkChange) error {
		if c.Change == Came {
			sum.LinksCame++
		} else {
			sum.LinksWent++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if sum.Hosts, err = d.hosts(hosts); err != nil {
		return nil, err
	}
	if sum.Unvisited, err = d.unvisited(); err != nil {
		return nil, err
	}
	if sum.Hands, err = d.changedHands(); err != nil {
		return nil, err
	}
	sum.Rot, err = d.rot()
	return sum, err
}

// unvisited returns the names, by host id, of hosts whose remaining pages From visited and To did
// not, although To is completed: it is unknown how they have changed. For the newest run,
// unreachable hosts are known and are reported as changes.
func (d *Diff) unvisited() (names []string, err error) {
	if d.To.Status != schema.RunCompleted {
		return nil, nil
	}
	before, after := &d.sides[0], &d.sides[1]
	hosts := d.s.core.store.Hosts() + 1
	stale, told := newBitset(hosts), newBitset(hosts)
	for id := range before.seq {
		switch h := int(d.s.Hosts.Of(schema.ID(id))); {
		case !d.s.core.isPage(schema.ID(id)):
		case after.seq[id] != 0 || after.away.has(id):
			told.set(h)
		case before.visited(schema.ID(id)) && d.presence(id) == Same:
			stale.set(h)
		}
	}
	for h := 1; h < hosts && err == nil; h++ {
		if stale.has(h) && !told.has(h) {
			var name string
			name, err = d.s.Hosts.Name(schema.HostID(h))
			names = append(names, name)
		}
	}
	return names, err
}

// hosts names the hosts with changes, and finds those that were added or removed.
func (d *Diff) hosts(all []HostChange) ([]HostChange, error) {
	var before, after = newBitset(len(all)), newBitset(len(all))
	for id := range d.sides[0].seq {
		if !d.s.core.isPage(schema.ID(id)) {
			continue
		}
		h := int(d.s.Hosts.Of(schema.ID(id)))
		if d.sides[0].known.has(id) {
			before.set(h)
		}
		if d.sides[1].known.has(id) || d.carried.has(id) {
			after.set(h)
		}
	}
	var changed []HostChange
	err := d.s.core.view(func(tx *kv.Tx) error {
		for id := 1; id < len(all); id++ {
			h := all[id]
			if h.Came+h.Went+h.Changed == 0 {
				continue
			}
			h.Host = schema.HostID(id)
			switch {
			case !before.has(id):
				h.Change = Came
			case !after.has(id):
				h.Change = Went
			}
			var err error
			if h.Name, err = tx.Hosts.Name(h.Host); err != nil {
				return err
			}
			changed = append(changed, h)
		}
		return nil
	})
	return changed, err
}

// rot follows the links of the origins' pages. A page that is on a list now has no links and is not
// dead.
func (d *Diff) rot() ([]Rot, error) {
	all := make([]Rot, len(d.s.core.scope.Origins()))
	err := d.eachChecked(func(to schema.ID, origins []int) {
		for _, origin := range origins {
			all[origin].add(d.answerBefore(to), d.sides[1].answer[to])
		}
	})
	var found []Rot
	for i := range all {
		if all[i].Origin = i; all[i].Links > 0 {
			found = append(found, all[i])
		}
	}
	return found, err
}

// eachChecked calls f for every link of the origins' pages, with the origins of the page that links.
func (d *Diff) eachChecked(f func(to schema.ID, origins []int)) error {
	source := d.sides[1].source
	if d.From.Kind == schema.RunImport {
		source = d.sides[0].source
	}
	origins, err := d.s.walks.originsOfHosts()
	if err = cmp.Or(err, d.s.walks.findClosed()); err != nil {
		return err
	}
	counts := func(id schema.ID) bool { return d.s.core.isPage(id) && !d.s.walks.closedTo(id) }
	stand := func(seq schema.Seq, id schema.ID) bool {
		return source[id] == uint32(seq) && len(origins[d.s.Hosts.Of(id)]) > 0 && counts(id)
	}
	return d.s.core.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(1, stand, func(l *kv.Targeted) error {
			for _, to := range l.To {
				if counts(to) {
					f(to, origins[d.s.Hosts.Of(l.URL)])
				}
			}
			return d.s.core.live()
		})
	})
}

// A DeadTarget is a dead page to which pages of the origins linked in an archive.
type DeadTarget struct {
	ID    schema.ID
	URL   string
	Links int
	After *schema.Visit // as in a [PageChange]
}

// EachDead calls f for every dead page to which an import found links on pages of the origins, those with the most
// links first. If the earlier run is a crawl, there is none: these links need not be there any more.
func (d *Diff) EachDead(f func(*DeadTarget) error) error {
	if d.From.Kind != schema.RunImport {
		return nil
	}
	links := map[schema.ID]int{}
	err := d.eachChecked(func(to schema.ID, _ []int) {
		if d.sides[1].answer[to] == dead {
			links[to]++
		}
	})
	if err != nil {
		return err
	}
	all := slices.SortedFunc(maps.Keys(links), func(a, b schema.ID) int {
		return cmp.Or(cmp.Compare(links[b], links[a]), cmp.Compare(a, b))
	})
	return d.s.core.view(func(tx *kv.Tx) error {
		for _, id := range all {
			t := &DeadTarget{ID: id, Links: links[id]}
			var err error
			if t.After, err = d.visit(tx, &d.sides[1], id); err != nil {
				return err
			}
			if t.URL, err = tx.URLs.Norm(id); err != nil {
				return err
			}
			if err := errors.Join(f(t), d.s.core.live()); err != nil {
				return err
			}
		}
		return nil
	})
}

// answerBefore returns how a page answered the earlier run. The answer is unknown for a page that
// a crawl knew without a visit and that has none now because its host could not be reached: nothing shows
// that it was different.
func (d *Diff) answerBefore(id schema.ID) uint8 {
	before, after := &d.sides[0], &d.sides[1]
	if d.From.Kind != schema.RunImport && before.seq[id] == 0 && before.known.has(int(id)) && after.away.has(int(id)) {
		return after.answer[id]
	}
	return before.answer[id]
}

func (r *Rot) add(before, after uint8) {
	if after == notAsked {
		return
	}
	r.Links++
	switch {
	case after == dead && before == dead:
		r.Dead++
	case after == dead:
		r.Dead++
		r.New++
	case before == dead:
		r.Mended++
	}
}
