// Package merge merges the state files of the shards of a terrain into one: the file of a single crawl of the
// whole terrain, as far as the shards have come.
//
// URLs are numbered by their first run, then by when they were first seen, then by shard; visits by run,
// shard and position in the log. Depths and first sightings are minima, forms and HTTPS flags are unions, and
// the referrer of a page is that of its earliest sighting. All other data of a host is taken from its own
// shard. The counts of groups limited by a cap are sums; the hosts of a site are counted again, since several
// shards may have recorded the same one. Messages are not copied. Stored paths are kept: the page stores of
// shards name their segments differently, so they can be put in one folder.
//
// Shards can be left out. The file is then a part of the terrain, with its runs interrupted: pages of the
// missing shards are foreign in it, and what these shards told others is kept, since the map has pages that
// only their links lead to.
//
// Memory holds a number for every URL, visit and host of every shard, but no text.
package merge

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// most is the number of records in a commit.
const most = 4096

// ErrShards reports files that are not the shards of one terrain, each exactly once.
var ErrShards = errors.New("not the shards of one terrain")

// A MissingError lists the shards whose files are missing. It wraps [ErrShards].
type MissingError struct {
	Shards schema.Shards
	Of     int // number of shards of the terrain
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%v: of shards 0 to %d these are missing: %s", ErrShards, e.Of-1, e.Shards)
}

func (e *MissingError) Unwrap() error { return ErrShards }

// A Shard is the open file of a shard.
type Shard struct {
	Name  string // for errors
	Store *kv.Store
	Live  bool // it is a copy of a file in use by a crawl
}

// A source is the file of one shard, with the mapping of its numbers to new ones.
type source struct {
	name   string
	given  bool // to another machine, which has a copy
	live   bool
	store  *kv.Store
	tx     *kv.Tx
	runs   []schema.Run
	urls   []schema.ID  // by old id
	visits []schema.Seq // by old number
	next   schema.Seq   // next visit to copy
}

// A merger copies the shards into one file.
type merger struct {
	ctx     context.Context
	sources []*source     // in the order of their shards
	without schema.Shards // shards left out
	dst     *kv.Store

	see         func(step string, done, total int) // may be nil
	step        string
	done, total int // records
}

// Stores merges the files of all shards of a terrain, except those left out, into a new file, which must be
// empty. Each file is read at one commit, and stays open. see, which may be nil, is called now and then with
// the progress of a step, in records.
//
// The map of a run in progress may lack data that a shard had not yet received when it was copied. The new
// file then records that depths and queues must be derived again.
//
// Stores fails with [ErrShards], or a [MissingError] if files are missing, before anything is written;
// likewise if the shards have not all begun the same run or do not follow the same configuration. Soon after
// ctx is done, it fails with the cause.
func Stores(ctx context.Context, shards []Shard, without schema.Shards, dst *kv.Store,
	see func(step string, done, total int)) error {
	sources, err := arrange(shards, without)
	if err != nil {
		return err
	}
	m := &merger{ctx: ctx, sources: sources, without: without, dst: dst, see: see}
	return m.view(0, m.copy)
}

// arrange returns the files in the order of their shards.
func arrange(shards []Shard, without schema.Shards) ([]*source, error) {
	if len(shards) == 0 {
		return nil, fmt.Errorf("%w: there are none", ErrShards)
	}
	first := shards[0]
	whole := first.Store.Part()
	sources := make([]*source, whole.Shards)
	for _, s := range shards {
		part, why := s.Store.Part(), ""
		given, err := isGiven(s.Store)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		switch {
		case part.Shards == 0 && s.Store.LastSeq() == 0 && s.Store.URLs() == 0:
			why = s.Name + " was never crawled, so it does not know which shard it is"
		case part.Shards == 0:
			why = s.Name + " holds a whole terrain"
		case part.Merged():
			why = fmt.Sprintf("%s was merged without %s", s.Name, part.Without.Named())
		case part.Terrain != whole.Terrain:
			why = fmt.Sprintf("%s is of another terrain than %s", s.Name, first.Name)
		case part.Shards != whole.Shards:
			why = fmt.Sprintf("%s is one of %d, %s one of %d", s.Name, part.Shards, first.Name, whole.Shards)
		case sources[part.Shard] != nil && given: // the other file is what became of its copy
			continue
		case sources[part.Shard] != nil && !sources[part.Shard].given:
			why = fmt.Sprintf("%s and %s are both shard %d", sources[part.Shard].name, s.Name, part.Shard)
		case without.Has(part.Shard):
			why = fmt.Sprintf("%s is shard %d, which was to be left out", s.Name, part.Shard)
		default:
			sources[part.Shard] = newSource(s)
			sources[part.Shard].given = given
			continue
		}
		return nil, fmt.Errorf("%w: %s", ErrShards, why)
	}
	return complete(sources, without)
}

// isGiven reports whether a file was given to another machine, which has a copy.
func isGiven(store *kv.Store) (given bool, err error) {
	err = store.View(func(tx *kv.Tx) error {
		text, err := tx.Meta.Value(kv.MetaGiven)
		given = text != nil
		return err
	})
	return given, err
}

func newSource(s Shard) *source {
	return &source{
		name: s.Name, live: s.Live, store: s.Store, next: 1,
		urls: make([]schema.ID, s.Store.URLs()+1), visits: make([]schema.Seq, s.Store.LastSeq()+1),
	}
}

// complete returns the existing files if only those of shards that are left out are missing.
func complete(sources []*source, without schema.Shards) (there []*source, err error) {
	var missing []int
	for n, s := range sources {
		switch {
		case s != nil:
			there = append(there, s)
		case !without.Has(n):
			missing = append(missing, n)
		}
	}
	for n := range without.All() {
		if n >= len(sources) {
			return nil, fmt.Errorf("%w: there is no shard %d to be left out: they are 0 to %d", ErrShards, n, len(sources)-1)
		}
	}
	if missing != nil {
		return nil, &MissingError{schema.ShardsOf(missing...), len(sources)}
	}
	return there, nil
}

// view runs f with a transaction of every source.
func (m *merger) view(n int, f func() error) error {
	if n == len(m.sources) {
		return f()
	}
	s := m.sources[n]
	return s.store.View(func(tx *kv.Tx) (err error) {
		s.tx = tx
		if s.runs, err = tx.Runs.All(); err != nil {
			return err
		}
		return m.view(n+1, f)
	})
}

func (m *merger) copy() error {
	if err := m.newest(); err != nil {
		return err
	}
	if err := m.sameRun(); err != nil {
		return err
	}
	if err := m.sameConfiguration(); err != nil {
		return err
	}
	if err := m.beginPart(); err != nil {
		return err
	}
	urls, hosts, visits := 0, 0, 0
	for _, s := range m.sources {
		urls, hosts, visits = urls+s.store.URLs(), hosts+s.store.Hosts(), visits+int(s.store.LastSeq())
	}
	for _, step := range []struct {
		name  string
		total int
		do    func() error
	}{
		{"URLs", urls, m.copyURLs}, {"hosts", hosts, m.copyHosts}, {"visits", visits, m.copyRuns},
		{"depths", urls, m.copyDepths}, {"counts", hosts + urls, m.copyCounts}, {"queues", hosts, m.copyQueues},
		{"referrals", urls, m.copyTold}, {"values", 0, m.copyMeta},
	} {
		if err := context.Cause(m.ctx); err != nil {
			return err
		}
		m.step, m.done, m.total = step.name, 0, step.total
		if err := step.do(); err != nil {
			return err
		}
	}
	return nil
}

// sameRun returns an error if a shard has begun a run that another has not: URLs queued in one would have
// been visited long ago in the other.
func (m *merger) sameRun() error {
	first := m.sources[0]
	for _, s := range m.sources {
		if len(s.runs) != len(first.runs) {
			return fmt.Errorf("%s has come to run #%d and %s to run #%d: they are merged once they are in the same",
				first.name, len(first.runs), s.name, len(s.runs))
		}
	}
	return nil
}

// sameConfiguration returns an error if shards follow different configurations: one may have left out what is
// in the map of another.
func (m *merger) sameConfiguration() error {
	first := m.sources[0]
	for _, s := range m.sources {
		its, own := s.store.Part().Configuration, first.store.Part().Configuration
		if its == own {
			continue
		}
		same, err := s.agrees(first)
		if err == nil && !same {
			err = fmt.Errorf("%s follows configuration %d and %s configuration %d: they are merged once they follow the same",
				first.name, own, s.name, its)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An OlderError reports a file that lacks what another shard knows to be in it: it is an older copy. It wraps
// [ErrShards].
type OlderError struct {
	Name  string // of the file
	Shard int
	By    string // the file that knows it
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("%s is an older copy of shard %d: %s knows of a later commit of it", e.Name, e.Shard, e.By)
}

func (e *OlderError) Unwrap() error { return ErrShards }

// newest returns an [OlderError] if a file lacks what another shard was told that it contains. The map would lack the
// pages of links that the other shard no longer sends. The copy of a file in use may be older than those of others by
// the time that copying takes. A file that replaces a lost one was not yet told everything again.
func (m *merger) newest() error {
	for _, s := range m.sources {
		shard := s.store.Part().Shard
		recreated, err := s.tx.Meta.Value(kv.MetaRecreatedAt)
		if err != nil {
			return s.named(err)
		}
		if recreated != nil {
			continue
		}
		for _, by := range m.sources {
			if by == s {
				continue
			}
			told, err := by.tx.Peers.At(shard)
			if err != nil {
				return by.named(err)
			}
			if told.Opening == (schema.Opening{}) {
				continue
			}
			if s.live {
				told.Commit = min(told.Commit, s.store.LastCommit())
			}
			has, err := s.tx.Openings.Contains(told.Opening, told.Commit)
			if err != nil {
				return s.named(err)
			}
			if !has {
				return &OlderError{s.name, shard, by.name}
			}
		}
	}
	return nil
}

// agrees reports whether the configurations of the last runs of two shards agree in what all shards share.
func (s *source) agrees(other *source) (bool, error) {
	hash, err := s.shared()
	if err != nil {
		return false, err
	}
	its, err := other.shared()
	return hash == its, err
}

// shared returns the hash of what the configuration of the last run shares with those of other shards.
func (s *source) shared() (hash [32]byte, err error) {
	if len(s.runs) == 0 {
		return hash, nil
	}
	text, err := s.tx.Runs.Config(s.runs[len(s.runs)-1].Config)
	if err != nil {
		return hash, s.named(err)
	}
	cfg, err := config.ParseEffective(text)
	if err != nil {
		return hash, fmt.Errorf("%s: %w", s.name, err)
	}
	return cfg.SharedHash(), nil
}

// batches calls f in transactions of limited size until it has no more to do.
func (m *merger) batches(f func(tx *kv.Tx) (more bool, err error)) error {
	for more := true; more; {
		if err := context.Cause(m.ctx); err != nil {
			return err
		}
		if m.see != nil {
			m.see(m.step, m.done, m.total)
		}
		err := m.dst.Update(func(tx *kv.Tx) (err error) {
			for n := 0; n < most && more && err == nil; n++ {
				if more, err = f(tx); more {
					m.done++
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f for the numbers from 1 to last(s) of every shard.
func (m *merger) each(last func(*source) int, f func(tx *kv.Tx, s *source, n int) error) error {
	shard, n := 0, 0
	return m.batches(func(tx *kv.Tx) (bool, error) {
		for n++; n > last(m.sources[shard]); n = 1 {
			if shard++; shard == len(m.sources) {
				return false, nil
			}
		}
		return true, m.sources[shard].named(f(tx, m.sources[shard], n))
	})
}

// own reports whether a host belongs to the shard.
func (s *source) own(id schema.HostID) bool { return !s.store.Foreign(id) }

// named adds the name of the file to an error about damage.
func (s *source) named(err error) error {
	if errors.Is(err, kv.ErrDamaged) {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return err
}
