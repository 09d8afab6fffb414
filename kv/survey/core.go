package survey

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A core is what all rooms read: the records of a store as one run left them, and the configuration
// of that run.
type core struct {
	store *kv.Store
	*calls
	past  *past // nil: the run is the newest
	runs  []schema.Run
	run   schema.Run // the last of runs
	first schema.Seq // first visit of the last completed run; 0: there is none
	taken bool       // for now, pages that only archives have count as they were there, see [EachLeft]
	cfg   *config.Config
	scope *scope.Scope
	seeds map[schema.ID]bool
	notes schema.HostNotes // as of now, whatever the run
	ever  bool             // covers everything that any run saw, see [Survey.Ever]

	unwritten bool // the newest run lacks only its outputs

	tooDeep    string // why pages beyond the depth of the run were not visited
	notReached string // why others do not belong to it
}

// calls are shared by the calls of a survey and of its [Survey.Ever].
type calls struct {
	tx  *kv.Tx          // of the current call
	ctx context.Context // of [Survey.Until] and [Survey.Hold]; nil: none
}

// readConfig reads the configuration of the last of the runs, and its seeds.
func (c *core) readConfig(tx *kv.Tx) error {
	c.run = c.runs[len(c.runs)-1]
	for i := range c.runs {
		if c.runs[i].Status == schema.RunCompleted && c.counts(&c.runs[i]) {
			c.first = c.runs[i].FirstVisit
		}
	}
	var err error
	if c.cfg, err = configOf(tx, c.run); err != nil {
		return err
	}
	c.scope = c.cfg.Scope()
	c.tooDeep = fmt.Sprintf("max-depth = %d", c.cfg.Crawler.MaxDepth)
	c.notReached = fmt.Sprintf("not reached by run %d", c.run.ID)
	if err := c.readNotes(tx); err != nil {
		return err
	}
	return c.readSeeds()
}

// configOf returns the effective configuration of a run.
func configOf(tx *kv.Tx, run schema.Run) (cfg *config.Config, err error) {
	text, err := tx.Runs.Config(run.Config)
	if err == nil {
		cfg, err = config.ParseEffective(text)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration of run %d: %w", run.ID, err)
	}
	return cfg, nil
}

func (c *core) readNotes(tx *kv.Tx) error {
	text, err := tx.Meta.Value(schema.MetaNotes)
	if err == nil {
		c.notes, err = schema.DecodeHostNotes(text)
	}
	return err
}

func (c *core) readSeeds() error {
	var seeds []string
	for _, origin := range c.scope.Origins() {
		for _, raw := range origin.Seeds { // checked under the rules of the configuration
			if u, err := c.cfg.Rules().Parse(raw); err == nil && !c.store.ForeignName(u.Host()) {
				seeds = append(seeds, u.Norm)
			}
		}
	}
	err := c.warm(seeds)
	for _, norm := range seeds {
		id, ok, failed := c.lookup(norm)
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		if ok {
			c.seeds[id] = true
		}
	}
	return err
}

// eachTold calls f for the messages of other shards about URLs that count in the newest run. For an
// older run there are none.
func (c *core) eachTold(f func(id schema.ID, told schema.Inbound)) error {
	if c.past != nil || c.store.Told() == 0 {
		return nil
	}
	part := c.store.Part()
	return c.view(func(tx *kv.Tx) error {
		return tx.Inbound.Each(func(id schema.ID, told schema.Inbound) (bool, error) {
			if told.Counts(part) {
				f(id, told)
			}
			return true, nil
		})
	})
}

// warm prepares look-ups of pages by identity.
func (c *core) warm(norms []string) error {
	hashes := make([]uint64, len(norms))
	for i, norm := range norms {
		hashes[i] = c.store.Hash(schema.KindPage, norm)
	}
	return c.view(func(tx *kv.Tx) error { tx.URLs.Warm(hashes); return nil })
}

// view runs f in a transaction, or in the open one if there is one.
func (c *core) view(f func(*kv.Tx) error) error {
	if c.tx != nil {
		return kv.Guard(func() error { return f(c.tx) })
	}
	return c.store.View(func(tx *kv.Tx) error {
		c.tx = tx
		defer func() { c.tx = nil }()
		return f(tx)
	})
}

// hold runs f in one transaction, and ends long walks over the records when ctx is done.
func (c *core) hold(ctx context.Context, f func() error) error {
	defer c.until(c.ctx)
	c.until(ctx)
	return c.view(func(*kv.Tx) error { return f() })
}

// urls returns the last id of a URL, which is the bound of arrays by id.
func (c *core) urls() int {
	if c.past != nil {
		return c.past.urls
	}
	return c.store.URLs()
}

// latest returns the last visit of a URL that counts in the run; 0: none. What archives hold counts only in their own
// run, and that holds nothing else.
func (c *core) latest(id schema.ID) schema.Seq {
	if c.ever && c.past == nil {
		return c.store.Latest(id)
	}
	switch seq := c.store.Asked(id); {
	case c.past != nil:
		return schema.Seq(c.past.latest[id])
	case c.imports():
		if seq = c.store.Latest(id); seq < c.run.FirstVisit {
			return 0
		}
		return seq
	case c.taken && seq == 0:
		if seq = c.store.Latest(id); seq != 0 && c.knew(c.runOf(seq)) {
			return seq
		}
		return 0
	default:
		return seq
	}
}

// counts reports whether what an earlier run saw counts in the run, unless that has seen something else.
func (c *core) counts(earlier *schema.Run) bool {
	return earlier.ID == c.run.ID || !c.imports() && earlier.Kind != schema.RunImport
}

// countsAt is counts for the ID of a run. A later run does not count, and one that was pruned counts as the oldest.
func (c *core) countsAt(run schema.RunID) bool {
	at := int(c.unpruned(run)) - int(c.runs[0].ID)
	return run > 0 && at < len(c.runs) && c.counts(&c.runs[at])
}

// firstCounted returns the first run that counts.
func (c *core) firstCounted() schema.RunID {
	for i := range c.runs {
		if c.counts(&c.runs[i]) {
			return c.runs[i].ID
		}
	}
	return c.run.ID
}

// runOf returns the run of a visit.
func (c *core) runOf(seq schema.Seq) (run *schema.Run) {
	run = &c.runs[0]
	for i := range c.runs {
		if c.runs[i].FirstVisit <= seq {
			run = &c.runs[i]
		}
	}
	return run
}

// knew reports whether an earlier run was there when the run began.
func (c *core) knew(earlier *schema.Run) bool { return c.run.Knew(earlier) }

// begunAfter reports whether the run began after another one.
func (c *core) begunAfter(run schema.RunID) bool {
	return slices.ContainsFunc(c.runs, func(r schema.Run) bool { return r.ID == run && c.run.Knew(&r) })
}

// firstOfAll reports whether there was no run when the run began. If the first runs were pruned, there was one.
func (c *core) firstOfAll() bool {
	pruned := c.runs[0].ID > 1
	return !pruned && !slices.ContainsFunc(c.runs, func(r schema.Run) bool { return c.run.Knew(&r) })
}

// nearest returns the smallest depth and hops of a URL in the run; [kv.NoDepth]: it does not belong
// to the run.
func (c *core) nearest(id schema.ID) (depth, hops uint8) {
	if c.past != nil {
		return c.past.near[id].depth, c.past.near[id].hops
	}
	return c.store.Depth(id)
}

// own reports whether a page is its host's own in the run of the survey.
func (c *core) own(id schema.ID) bool {
	if c.past != nil {
		return c.past.near[id].own
	}
	return c.store.Own(id)
}

// lookup finds a page by its identity.
func (c *core) lookup(norm string) (schema.ID, bool, error) {
	name, pathQuery := weburl.Split(norm)
	var id schema.ID
	var ok bool
	err := c.view(func(tx *kv.Tx) error {
		host, known, err := tx.Hosts.Lookup(name)
		if err != nil || !known {
			return err
		}
		id, ok, err = tx.URLs.Lookup(c.store.Hash(schema.KindPage, norm), host, schema.KindPage, pathQuery)
		return err
	})
	return id, ok && int(id) <= c.urls(), err
}

// visited reports whether a URL has a visit in the run.
func (c *core) visited(id schema.ID) bool {
	seq := c.latest(id)
	return seq != 0 && seq >= c.run.FirstVisit
}

// secondRun returns the first visit that may belong to a later run than the first.
func (c *core) secondRun() schema.Seq {
	switch {
	case c.runs[0].ID > 1: // earlier runs were pruned, except for some visits
		return 1
	case len(c.runs) == 1:
		return c.store.LastSeq() + 1
	}
	return c.runs[1].FirstVisit
}

// imports reports whether the run read archives.
func (c *core) imports() bool { return c.run.Kind == schema.RunImport }

// neverAsked reports whether no run has requested a URL: an archive at most knows its page.
func (c *core) neverAsked(id schema.ID) bool {
	return c.store.Imports().Has(c.latest(id)) || c.latest(id) == 0
}

// visitedSince reports whether a URL was visited in the last completed run or after it.
func (c *core) visitedSince(id schema.ID) bool {
	seq := c.latest(id)
	return seq != 0 && seq >= c.first
}

// speaks reports whether the links of a page are current: the last completed run or a later one
// visited it. In a survey of all runs, the links of every visited page are.
func (c *core) speaks(id schema.ID) bool {
	return c.isPage(id) && (c.ever && c.latest(id) != 0 || c.visitedSince(id))
}

// norm returns the identity of a URL.
func (c *core) norm(id schema.ID) (norm string, err error) {
	err = c.view(func(tx *kv.Tx) (err error) {
		norm, err = tx.URLs.Norm(id)
		return err
	})
	return norm, err
}

// outside reports whether the run has neither reached a URL nor visited it.
func (c *core) outside(id schema.ID) bool { return !c.inRun(id) && !c.visited(id) }

// inRun reports whether a URL belongs to the run of the survey.
func (c *core) inRun(id schema.ID) bool {
	depth, _ := c.nearest(id)
	return depth != kv.NoDepth
}

// isPage reports whether a URL is a page.
func (c *core) isPage(id schema.ID) bool {
	return id != 0 && int(id) <= c.urls() && c.store.Kind(id) == schema.KindPage
}

// within reports whether the distances of a page in the run allow a visit.
func (c *core) within(id schema.ID) bool {
	depth, hops := c.nearest(id)
	return c.reach(near{depth: depth, hops: hops})
}

// reach reports whether a page at such distances may be visited.
func (c *core) reach(n near) bool {
	return n.depth != kv.NoDepth && int(n.depth) <= c.cfg.Crawler.MaxDepth && n.hops <= schema.MaxRedirects
}

// since returns the last completed run; 0: there is none.
func (c *core) since() (since schema.RunID) {
	for i := range c.runs {
		if c.runs[i].Status == schema.RunCompleted && c.counts(&c.runs[i]) {
			since = c.runs[i].ID
		}
	}
	return since
}

// hasOlder reports whether there may be pages of earlier runs that an unfinished run has not
// reached yet.
func (c *core) hasOlder() bool {
	return c.run.Status != schema.RunCompleted && !c.imports() && !c.firstOfAll()
}

// unpruned returns a run, or the oldest remaining one if that was pruned.
func (c *core) unpruned(run schema.RunID) schema.RunID { return max(run, c.runs[0].ID) }

// maxPages returns [crawler] max-pages with its value if it was used up, and otherwise "".
func (c *core) maxPages() string {
	limit := c.cfg.Crawler.MaxPages
	used := c.run.Pages >= limit && !c.imports()
	if c.store.Part().Shards != 0 { // which visited only a portion of them
		used = c.run.End.Kind == schema.EndMaxPages
	}
	if limit > 0 && used {
		return fmt.Sprintf("max-pages = %d", limit)
	}
	return ""
}

// A bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) *bitset {
	b := make(bitset, n/64+1)
	return &b
}

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) unset(i int)    { b[i/64] &^= 1 << (i % 64) }

// grow makes room for the number i.
func (b *bitset) grow(i int) {
	for i/64 >= len(*b) {
		*b = append(*b, 0)
	}
}

// until ends long walks over the records when ctx is done.
func (c *core) until(ctx context.Context) { c.ctx = ctx }

// live returns why a walk over the records should end; nil: it should not.
func (c *core) live() error {
	if c.ctx == nil || c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// often is the number of pages between two calls of live, where a page costs little.
const often = 1 << 14
