package scaletest

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// commitVisits is the number of visits in a commit.
const commitVisits = 1 << 13

// began is when the first run began.
var began = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

// Make makes a state file of a size under a new name.
func Make(path string, size Size) error {
	w, err := newWorld(size)
	if err != nil {
		return err
	}
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err
	}
	m := &maker{world: w, size: size, store: store, budget: size.budget()}
	if err := m.make(); err != nil {
		store.Close()
		return fmt.Errorf("make %s: %w", path, err)
	}
	return store.Close()
}

// A maker walks a world as a crawl does, and invents its pages on the way.
//
// Pages are visited by depth. A page never leads to one that is nearer than itself, except for
// pages of origins, which are all met while those are walked. So the depth at which a page is met
// is its shortest distance.
type maker struct {
	*world
	size   Size
	store  *kv.Store
	tx     *kv.Tx
	run    schema.Run
	budget int
	at     time.Time

	unmet   []int // hosts that no page has linked to yet
	depth   uint8 // of the pages that are being visited
	waiting [maxDepth + 2][]schema.ID
	share   float64     // new pages that each of those leads to
	work    []schema.ID // visited pages that have something to pass on
	siteOf  []int       // by host id
}

func (m *maker) make() error {
	err := m.update(m.begin)
	for depth := uint8(0); depth <= maxDepth && err == nil; depth++ {
		m.depth = depth
		m.share = float64(m.upTo(depth)-m.store.URLs()) / answering / float64(max(1, len(m.waiting[depth])))
		for len(m.waiting[depth]) > 0 && err == nil {
			err = m.update(m.walk)
		}
	}
	if err != nil {
		return err
	}
	if err := m.update(m.end); err != nil {
		return err
	}
	for run := 1; run < m.size.Runs; run++ {
		if err := m.again(); err != nil {
			return err
		}
	}
	return nil
}

// update runs a step in a transaction, and records the run with it.
func (m *maker) update(step func() error) error {
	return m.store.Update(func(tx *kv.Tx) error {
		m.tx = tx
		if err := step(); err != nil {
			return err
		}
		return tx.Runs.Put(m.run)
	})
}

// begin begins the run and meets the seeds.
func (m *maker) begin() error {
	m.at, m.siteOf = began, []int{0}
	m.run = schema.Run{ID: 1, Started: m.at, Config: m.cfg.Hash(), FirstVisit: 1, Errors: map[string]int{}}
	if err := m.tx.Runs.PutConfig(m.run.Config, m.cfg.Effective()); err != nil {
		return err
	}
	for _, i := range m.seeds() {
		if _, err := m.meet(i, 0, near{}); err != nil {
			return err
		}
	}
	for _, own := range []bool{true, false} {
		for i, s := range m.sites {
			if s.id == 0 && own == (s.fate == fateOwn) {
				m.unmet = append(m.unmet, i)
			}
		}
	}
	return nil
}

// upTo is the number of pages that are known when those at a depth are visited.
func (m *maker) upTo(depth uint8) int {
	met := [...]float64{ownPages + nearPages, ownPages + nearPages + farPages}
	if int(depth) >= len(met) {
		return m.size.Pages
	}
	return int(met[depth] * m.size.visited() / visitedPages * float64(m.size.Pages))
}

// walk visits some of the pages that are at the depth.
func (m *maker) walk() error {
	for range min(commitVisits, len(m.waiting[m.depth])) {
		id := m.waiting[m.depth][0]
		m.waiting[m.depth] = m.waiting[m.depth][1:]
		if err := m.visit(id); err != nil {
			return err
		}
	}
	return nil
}
