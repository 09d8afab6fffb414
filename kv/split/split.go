// Package split divides the state file of a whole terrain into those of its shards. It is the inverse of package merge:
// the map of all shards together is the map of the file.
//
// A shard has the hosts of its sites with everything that belongs to them: clocks, robots.txt, budgets, queues, visits
// of all runs, and unsent messages. Of the URLs of other shards it has those that its visits and vouchers name, at the
// distances that its own pages and sitemaps give them; a shard to which the ways of others lead has them as reports.
// So it is what a crawl by shards would have made, when all that they have to tell each other was told, and each file
// contains an opening that the others know.
//
// What belongs to no host is divided as follows. The figures of a run are those of the visits of each shard; what no
// visit explains, such as requests for robots.txt, is in shard 0. The count of a group of pages limited by a page type
// is that of the shard's own pages, since the group may span sites; other counts go with their site. The in-links
// from web graphs are not copied.
//
// Memory holds a few bytes for every URL, visit and host of the file, and one shard at a time.
package split

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// most is the number of records in a commit.
const most = 4096

// A Way leads from what a shard has visited to a URL of another shard.
type Way struct {
	From     int // shard
	To       schema.ID
	Told     schema.Inbound // without the numbers of run and configuration
	Vouchers []string       // of a sitemap
}

// Options say how a file is split.
type Options struct {
	Terrain [16]byte // ID of the new terrain
	Shards  int
	Drop    []string // names of values that are not copied

	// Ways calls f for all ways that begin in a shard, or in any if from is negative.
	Ways func(rule *shard.Rule, from int, f func(Way) error) error
	// HostOf returns the host that an unsent message is about; empty: none, or several of them.
	HostOf func(*schema.Message) string
	// See is called now and then with the progress of a step, in records; may be nil.
	See func(step string, done, total int)
}

// A Splitter divides one file. The file must not change meanwhile.
type Splitter struct {
	Options
	ctx  context.Context
	src  *kv.Store
	rule *shard.Rule
	runs []schema.Run
	cfg  *config.Config // of the last run

	shards []uint8     // by host, less 1
	urlOf  []schema.ID // by visit, less 1
	shares [][]share   // by shard and run
	told   []told      // by URL
	listed map[schema.ID]time.Time
	spoken map[schema.ID][]string // vouchers that other shards have told of sitemaps
	peers  []schema.Peer          // by shard
}

// A share is a shard's part of a run.
type share struct {
	pages, requests, rendered, unrendered int
	errors                                map[string]int
}

// told is what other shards report about a URL.
type told struct {
	depth, hops uint8
	known       bool
	own         bool
	listed      bool
}

// New prepares to split a file. It fails if that has no run, holds a part of a terrain, or must first finish what a
// changed configuration has begun.
func New(ctx context.Context, src *kv.Store, o Options) (*Splitter, error) {
	rule, err := shard.New(o.Shards)
	if err != nil {
		return nil, err
	}
	if o.See == nil {
		o.See = func(string, int, int) {}
	}
	s := &Splitter{
		Options: o, ctx: ctx, src: src, rule: rule, peers: make([]schema.Peer, o.Shards),
		shards: make([]uint8, 0, src.Hosts()), urlOf: make([]schema.ID, 0, src.LastSeq()),
		told: make([]told, src.URLs()+1), listed: map[schema.ID]time.Time{}, spoken: map[schema.ID][]string{},
	}
	if part := src.Part(); part.Shards != 0 {
		return nil, errors.New("the file holds a part of a terrain")
	}
	err = src.View(func(tx *kv.Tx) error {
		if tx.Meta.Reapply() {
			return errors.New("a changed configuration is still to be applied")
		}
		return errors.Join(s.readRuns(tx), s.readHosts(tx), s.readVisits(tx))
	})
	if err == nil {
		err = s.readWays()
	}
	return s, err
}

func (s *Splitter) readRuns(tx *kv.Tx) (err error) {
	if s.runs, err = tx.Runs.All(); err != nil {
		return err
	}
	if len(s.runs) == 0 {
		return errors.New("nothing was crawled yet")
	}
	text, err := tx.Runs.Config(s.last().Config)
	if err == nil {
		s.cfg, err = config.ParseEffective(text)
	}
	return err
}

func (s *Splitter) last() *schema.Run { return &s.runs[len(s.runs)-1] }

func (s *Splitter) readHosts(tx *kv.Tx) error {
	return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		s.shards = append(s.shards, uint8(s.rule.Of(h.Name)))
		return true, nil
	})
}

// hostShard returns the shard of a host.
func (s *Splitter) hostShard(id schema.HostID) int { return int(s.shards[id-1]) }

// urlShard returns the shard of a URL.
func (s *Splitter) urlShard(id schema.ID) int { return s.hostShard(s.src.HostOf(id)) }

// readVisits finds out which visits belong to which shard, and the figures of its runs.
func (s *Splitter) readVisits(tx *kv.Tx) error {
	s.shares = make([][]share, s.Shards)
	for n := range s.shares {
		s.shares[n] = make([]share, len(s.runs)+1)
	}
	err := tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
		if v.Seq%most == 0 {
			s.See("visits", int(v.Seq), int(s.src.LastSeq()))
			if err := context.Cause(s.ctx); err != nil {
				return false, err
			}
		}
		if int(v.Run) > len(s.runs) {
			return false, fmt.Errorf("%w: visit %d is of a run that is not there", kv.ErrDamaged, v.Seq)
		}
		s.urlOf = append(s.urlOf, v.URL)
		s.shares[s.urlShard(v.URL)][v.Run].add(v, s.src.Kind(v.URL) == schema.KindPage)
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, run := range s.runs {
		rest := share{run.Pages, run.Requests, run.Rendered, run.Unrendered, maps.Clone(run.Errors)}
		for n := range s.shares {
			rest.subtract(&s.shares[n][run.ID])
		}
		s.shares[0][run.ID].join(&rest)
	}
	return nil
}

// add counts a visit.
func (s *share) add(v *schema.Visit, page bool) {
	s.requests += v.Requests
	if !page {
		return
	}
	if kind := v.ErrorKind(); kind != "" && !v.Kept {
		s.count(kind, 1)
	}
	if v.Requests == 0 && !v.Archived {
		return
	}
	s.pages++
	switch {
	case v.Archived:
	case v.Rendering&schema.Rendered != 0:
		s.rendered++
	case v.Rendering != 0:
		s.unrendered++
	}
}

func (s *share) count(kind string, n int) {
	if s.errors == nil {
		s.errors = map[string]int{}
	}
	if s.errors[kind] += n; s.errors[kind] <= 0 {
		delete(s.errors, kind)
	}
}

// subtract takes away what another share has, as far as it is there.
func (s *share) subtract(o *share) {
	s.pages, s.requests = max(0, s.pages-o.pages), max(0, s.requests-o.requests)
	s.rendered, s.unrendered = max(0, s.rendered-o.rendered), max(0, s.unrendered-o.unrendered)
	for kind, n := range o.errors {
		s.count(kind, -n)
	}
}

func (s *share) join(o *share) {
	s.pages, s.requests = s.pages+o.pages, s.requests+o.requests
	s.rendered, s.unrendered = s.rendered+o.rendered, s.unrendered+o.unrendered
	for kind, n := range o.errors {
		s.count(kind, n)
	}
}

// readWays collects what the shards report about each other's URLs. If the links of a lost file are missing, everything
// that has a depth counts as reported.
func (s *Splitter) readWays() error {
	s.See("links", 0, 0)
	err := s.Ways(s.rule, -1, func(w Way) error {
		t := &s.told[w.To]
		t.lower(w.Told)
		if w.Told.Changed.After(s.listed[w.To]) {
			s.listed[w.To] = w.Told.Changed
		}
		if w.Vouchers != nil {
			s.spoken[w.To] = w.Vouchers
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.src.View(func(tx *kv.Tx) error {
		run, err := tx.Meta.Value(kv.MetaRecreated)
		if err != nil || string(run) != fmt.Sprint(s.last().ID) {
			return err
		}
		for id := schema.ID(1); int(id) <= s.src.URLs(); id++ {
			if depth, hops := s.src.Depth(id); depth != kv.NoDepth {
				s.told[id].lower(schema.Inbound{Depth: depth, Hops: hops, Own: s.src.Own(id)})
			}
		}
		return nil
	})
}

// lower adds a report.
func (t *told) lower(in schema.Inbound) {
	if !t.known {
		*t = told{depth: kv.NoDepth, hops: kv.NoDepth, known: true}
	}
	t.depth, t.hops = min(t.depth, in.Depth), min(t.hops, in.Hops)
	t.own, t.listed = t.own || in.Own, t.listed || in.Listed
}

// Begin makes an empty file that of a shard. It must be called for every shard before the first [Splitter.Fill], since
// each shard knows an opening of all others.
func (s *Splitter) Begin(n int, dst *kv.Store) error {
	part := schema.Part{
		Terrain: s.Terrain, Rule: shard.Version, Shard: n, Shards: s.Shards,
		Run: uint64(s.last().ID), Configuration: 1,
	}
	err := dst.Update(func(tx *kv.Tx) error {
		_, err := tx.Openings.Begin()
		return errors.Join(err, tx.Part.Put(part))
	})
	if err != nil {
		return err
	}
	return dst.View(func(tx *kv.Tx) (err error) {
		s.peers[n].Opening, s.peers[n].Commit, err = tx.Openings.Now()
		return err
	})
}
