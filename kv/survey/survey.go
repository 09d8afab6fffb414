package survey

import (
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// ErrNoRun reports a state file in which nothing was ever crawled.
var ErrNoRun = errors.New("nothing has been crawled yet: \"ripple crawl\" begins")

// MaxRedirects is the number of redirects in a row that are followed (SPEC 4, 5).
const MaxRedirects = 10

// A Survey is one reading of a store under the configuration of its newest run, or
// of an older one, see [Survey.At].
type Survey struct {
	store   *kv.Store
	past    *past  // nil: the survey is of the newest run
	tx      *kv.Tx // of the call that is running
	runs    []schema.Run
	run     schema.Run // the last of runs
	cfg     *config.Config
	terrain *terrain.Terrain
	seeds   map[schema.ID]bool

	hosts  []*host                 // by id; nil: not read yet
	next   map[schema.ID]schema.ID // where pages that redirects lead to redirect to themselves; 0: nowhere
	ref    cachedLinks             // of the last referrer that was read
	listed *bitset                 // pages that a sitemap names; nil: not read yet
	left   *bitset                 // pages that wait, of those that the newest run has not reached; nil: not read yet
	sights []schema.RunID          // by id: the last run in which a page linked there; nil: not read yet
	graph  *graph
	older  []uint8 // by id: smallest depth plus 1 over all that is recorded; nil: not needed or not yet derived
	tally  *tally
}

// New reads the runs of a store, the newest one's configuration and its seeds.
// It fails with [ErrNoRun] where there is no run.
func New(store *kv.Store) (*Survey, error) {
	s := newSurvey(store)
	err := s.view(func(tx *kv.Tx) error {
		var err error
		if s.runs, err = tx.Runs(); err != nil {
			return err
		}
		if len(s.runs) == 0 {
			return ErrNoRun
		}
		if last := &s.runs[len(s.runs)-1]; last.Walked && last.Status == schema.RunRunning {
			last.Status = schema.RunCompleted // its outputs show it as it will be when they are in place
		}
		return s.readConfig(tx)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newSurvey(store *kv.Store) *Survey {
	return &Survey{
		store: store, hosts: make([]*host, store.Hosts()+1),
		seeds: make(map[schema.ID]bool), next: make(map[schema.ID]schema.ID),
	}
}

// readConfig reads the configuration of the last of the runs, and its seeds.
func (s *Survey) readConfig(tx *kv.Tx) error {
	s.run = s.runs[len(s.runs)-1]
	text, err := tx.Config(s.run.Config)
	if err != nil {
		return fmt.Errorf("configuration of run %d: %w", s.run.ID, err)
	}
	if s.cfg, err = config.ParseEffective(text); err != nil {
		return fmt.Errorf("configuration of run %d: %w", s.run.ID, err)
	}
	s.terrain = s.cfg.Terrain()
	return s.readSeeds()
}

// Interrupt says that no process works on the newest run any more: if it reads
// running, it is interrupted.
func (s *Survey) Interrupt() {
	if s.run.Status == schema.RunRunning {
		s.run.Status = schema.RunInterrupted
		s.runs[len(s.runs)-1] = s.run
	}
}

func (s *Survey) readSeeds() error {
	for _, origin := range s.terrain.Origins() {
		for _, raw := range origin.Seeds {
			u, err := s.cfg.Rules().Parse(raw)
			if err != nil {
				continue // the configuration was checked under its own rules
			}
			id, ok, err := s.Lookup(u.Norm)
			if err != nil {
				return err
			}
			if ok {
				s.seeds[id] = true
			}
		}
	}
	return nil
}

// view runs f in a transaction, within the one that is open if there is one.
func (s *Survey) view(f func(*kv.Tx) error) error {
	if s.tx != nil {
		return f(s.tx)
	}
	return s.store.View(func(tx *kv.Tx) error {
		s.tx = tx
		defer func() { s.tx = nil }()
		return f(tx)
	})
}

// Run returns the run that the survey is of: the newest, unless [Survey.At] says
// otherwise.
func (s *Survey) Run() schema.Run { return s.run }

// Runs returns all runs until that one, oldest first.
func (s *Survey) Runs() []schema.Run { return s.runs }

// Config returns the effective configuration of the run.
func (s *Survey) Config() *config.Config { return s.cfg }

// Terrain returns the lists and rules of the run.
func (s *Survey) Terrain() *terrain.Terrain { return s.terrain }

// URLs returns the last id of a URL, which bounds arrays by id.
func (s *Survey) URLs() int {
	if s.past != nil {
		return s.past.urls
	}
	return s.store.URLs()
}

// HostCount returns the last id of a host, which bounds arrays by id.
func (s *Survey) HostCount() int { return s.store.Hosts() }

// HostOf returns the host of a URL.
func (s *Survey) HostOf(id schema.ID) schema.HostID { return s.store.HostOf(id) }

// latest returns the last visit of a URL; 0: none.
func (s *Survey) latest(id schema.ID) schema.Seq {
	if s.past != nil {
		return schema.Seq(s.past.latest[id])
	}
	return s.store.Latest(id)
}

// nearest returns the smallest depth and hops of a URL in the run; [kv.NoDepth]: it
// does not belong to it.
func (s *Survey) nearest(id schema.ID) (depth, hops uint8) {
	if s.past != nil {
		return s.past.near[id].depth, s.past.near[id].hops
	}
	return s.store.Depth(id)
}

// Lookup finds a page by its identity.
func (s *Survey) Lookup(norm string) (schema.ID, bool, error) {
	name, pathQuery := weburl.Split(norm)
	var id schema.ID
	var ok bool
	err := s.view(func(tx *kv.Tx) error {
		host, known, err := tx.HostByName(name)
		if err != nil || !known {
			return err
		}
		id, ok, err = tx.Lookup(s.store.Hash(schema.KindPage, norm), host, schema.KindPage, pathQuery)
		return err
	})
	return id, ok && int(id) <= s.URLs(), err
}

// visited reports whether a URL has a visit in the run.
func (s *Survey) visited(id schema.ID) bool {
	seq := s.latest(id)
	return seq != 0 && seq >= s.run.FirstVisit
}

// isPage reports whether an id is that of a page.
func (s *Survey) isPage(id schema.ID) bool {
	return id != 0 && int(id) <= s.URLs() && s.store.Kind(id) == schema.KindPage
}

// A bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) *bitset {
	b := make(bitset, n/64+1)
	return &b
}

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
