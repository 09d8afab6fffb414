package crawl

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// divide makes a new file hold a part of a terrain.
func (p *paperCrawl) divide(store *kv.Store) {
	p.t.Helper()
	err := store.Update(func(tx *kv.Tx) error {
		_, err := tx.Openings.Begin()
		return errors.Join(err, tx.Part.Put(p.part))
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// A paperShard is a crawl of one shard that receives URLs from the others.
type paperShard struct {
	*paperCrawl
	senders []*exchange.Sender // by shard; nil: its own
	backup  string             // an older copy of its file; empty: none
	lost    bool               // its file was lost, or an older copy took its place
}

func (p *paperShard) View(f func(*kv.Tx) error) error   { return p.store.View(f) }
func (p *paperShard) Update(f func(*kv.Tx) error) error { return p.store.Update(f) }

func (p *paperShard) Apply(told []ring.Referral) error {
	effects := make(chan ring.Effects, 1)
	err := p.rec.commit(p.t.Context(), &batch{told: told}, effects)
	if err == nil {
		p.publish((<-effects).List)
	}
	return err
}

func (p *paperShard) Errand(e ring.Errand, at, most int) (ring.Report, bool, error) {
	report, known := p.rec.recorder.Report(e)
	if known {
		return report.Piece(at, most), true, nil
	}
	effects := make(chan ring.Effects, 1)
	err := p.rec.commit(p.t.Context(), &batch{errands: []ring.Errand{e}}, effects)
	if err == nil {
		p.publish((<-effects).List)
	}
	return report, false, err
}

func (p *paperShard) Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error) {
	return p.rec.recorder.Referral(tx, id)
}

func (p *paperShard) MarkAgain(tx *kv.Tx, shard int, from schema.ID, most int) (schema.ID, error) {
	return p.rec.recorder.MarkAgain(tx, shard, from, min(most, 3))
}

// A paperTerrain is a terrain of several shards. Letters are lost, duplicated and late, and shards
// are killed, lose commits and are created again.
type paperTerrain struct {
	t      *testing.T
	r      *rand.Rand
	shards []*paperShard
	late   []lateLetter
	calm   bool // nothing is lost any more
	reads  bool // no file goes back

	letters, dropped, kills, backs, recreated, looks, agreed, partial int
}

type lateLetter struct {
	shard int
	text  []byte
}

func newPaperTerrain(t *testing.T, r *rand.Rand, web *paperWeb, text string, shards int) *paperTerrain {
	p := &paperTerrain{t: t, r: r}
	for n := range shards {
		s := &paperShard{paperCrawl: newPaper(t, r, web, text)}
		s.part = schema.Part{
			Terrain: [16]byte{1}, Rule: shard.Version, Shard: n, Shards: shards, Run: 1, Configuration: 1,
		}
		p.shards = append(p.shards, s)
	}
	for n := range p.shards {
		p.start(n)
	}
	return p
}

func (p *paperTerrain) start(n int) {
	s := p.shards[n]
	s.start()
	s.entrust = func(step ring.Step) ring.Outcome {
		now := time.Now()
		o := ring.Outcome{Step: step, FirstByte: now, Done: now, RetryAfter: -1, Length: -1}
		r, known, err := exchange.Inquire(p.t.Context(), s, p, *step.Errand, 1<<20, func(int64) error { return nil })
		if err != nil {
			p.t.Fatal(err)
		}
		if o.Moved, o.Behind = !known, r.Behind; known {
			o.Bring(r)
		}
		return o
	}
	s.senders = make([]*exchange.Sender, len(p.shards))
	for peer := range p.shards {
		if peer != n {
			s.senders[peer] = exchange.NewSender(s, p, peer)
		}
	}
}

// Ask is the carrier.
func (p *paperTerrain) Ask(_ context.Context, to int, text []byte) ([]byte, error) {
	p.letters++
	if len(text) > exchange.MaxLetter {
		p.t.Errorf("a letter of %d bytes", len(text))
	}
	what := p.r.IntN(10)
	if p.calm {
		what = 9
	}
	p.dropped += (9 - what) / 6
	switch what {
	case 0: // lost
		return nil, exchange.ErrNobody
	case 1: // late
		p.late = append(p.late, lateLetter{to, text})
		return nil, exchange.ErrNobody
	case 2: // twice
		p.deliver(to, text)
	case 3: // the answer is lost
		p.deliver(to, text)
		return nil, exchange.ErrNobody
	}
	return p.deliver(to, text), nil
}

func (p *paperTerrain) deliver(to int, text []byte) []byte {
	reply, err := exchange.NewReceiver(p.shards[to]).Answer(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return reply
}

// turn does something that may happen, in any order.
func (p *paperTerrain) turn() {
	n := p.r.IntN(len(p.shards))
	s := p.shards[n]
	switch what := p.r.IntN(100); {
	case what < 50 && len(s.steps)+len(s.wakes) > 0:
		s.turnRound()
	case what < 90 || p.calm:
		p.tell(s)
	case what < 94 && len(p.late) > 0:
		i := p.r.IntN(len(p.late))
		l := p.late[i]
		p.late = append(p.late[:i], p.late[i+1:]...)
		p.deliver(l.shard, l.text)
	case what < 97 || p.reads:
		p.kills++
		s.kill()
		p.start(n)
	case what < 98:
		s.kill()
		s.backup = filepath.Join(p.t.TempDir(), "backup")
		if err := kv.Compact(s.path, s.backup); err != nil {
			p.t.Fatal(err)
		}
		p.start(n)
	case what < 99 && s.backup != "":
		p.backs++
		s.kill()
		copyFile(p.t, s.backup, s.path)
		s.lost = true
		p.start(n)
	case what == 99:
		p.recreated++
		s.kill()
		if err := os.Remove(s.path); err != nil {
			p.t.Fatal(err)
		}
		s.backup, s.lost = "", true
		p.start(n)
	}
}

func copyFile(t *testing.T, from, to string) {
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tell makes a shard take a step with one of the others.
func (p *paperTerrain) tell(s *paperShard) exchange.Progress {
	sender := s.senders[p.r.IntN(len(p.shards))]
	if sender == nil {
		return exchange.Idle
	}
	progress, err := sender.Step(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return progress
}

// look reads all shards twice, while they continue. If that finds the run to be over, it must be
// true, whatever is still on its way.
func (p *paperTerrain) look() {
	p.reads = true
	first, ok := p.round()
	second, ok2 := p.round()
	p.reads = false
	p.looks++
	if !ok || !ok2 || termination.Open(first, second) != nil {
		return
	}
	p.agreed++
	if !p.over() {
		p.t.Error("something is left when all have agreed that nothing is")
	}
	for _, l := range p.late {
		p.deliver(l.shard, l.text)
	}
	if p.late = nil; !p.over() {
		p.t.Error("a late letter has said something when all had agreed that nothing was left")
	}
}

// round takes a reading of every shard; anything may happen between two readings.
func (p *paperTerrain) round() ([]termination.Reading, bool) {
	round := make([]termination.Reading, len(p.shards))
	for _, n := range p.r.Perm(len(p.shards)) {
		for p.r.IntN(3) == 0 {
			p.turn()
		}
		s := p.shards[n]
		r, err := termination.Of(s.store)
		r.Idle, r.Confirmed = r.Idle && len(s.steps)+len(s.wakes) == 0, make([]schema.Opening, len(p.shards))
		for peer, sender := range s.senders {
			if sender == nil || !r.Idle || !r.Told || err != nil {
				continue
			}
			var ok bool
			asker := exchange.NewSender(s, p, peer)
			if ok, err = asker.Confirm(p.t.Context()); ok {
				r.Confirmed[peer] = asker.Opening()
			}
		}
		if err != nil {
			p.t.Fatal(err)
		}
		again, err := termination.Of(s.store)
		if err != nil || again.Commit != r.Commit || again.Opening != r.Opening || !r.Idle || !r.Told {
			return nil, false
		}
		round[n] = r
	}
	return round, true
}

// over reports whether nothing is left to do or to send.
func (p *paperTerrain) over() bool {
	for _, s := range p.shards {
		if len(s.steps)+len(s.wakes) > 0 {
			return false
		}
		for peer := range p.shards {
			if n, more := s.store.Marked(peer); n > 0 || more {
				return false
			}
		}
	}
	return true
}

// run crawls to the end: for some time anything may happen, then nothing is lost any more.
func (p *paperTerrain) run(moody int) (map[string]near, map[string]bool) {
	for range moody {
		p.turn()
		if p.r.IntN(20) == 0 {
			p.look()
		}
	}
	p.calm = true
	for _, s := range p.shards {
		s.kill()
	}
	if !slices.ContainsFunc(p.shards, func(s *paperShard) bool { return s.lost }) {
		p.mergedWithout(nil) // also for a run that is not over
	}
	for n := range p.shards { // these ask the others what they contain
		p.start(n)
	}
	for round := 0; ; round++ {
		if round > 20_000 {
			p.t.Fatal("the crawl does not end")
		}
		if p.over() && p.confirmed() {
			break
		}
		p.turn()
		if p.r.IntN(20) == 0 {
			p.look()
		}
	}
	agreed := p.agreed
	for tries := 0; p.agreed == agreed && tries < 1000; tries++ {
		p.look()
	}
	if p.agreed == agreed {
		p.t.Error("nobody finds the end")
	}
	return p.merged()
}

// confirmed makes every shard confirm what it has acknowledged.
func (p *paperTerrain) confirmed() bool {
	all := true
	for _, s := range p.shards {
		for _, sender := range s.senders {
			if sender == nil {
				continue
			}
			ok, err := sender.Confirm(p.t.Context())
			if err != nil {
				p.t.Fatal(err)
			}
			all = all && ok
		}
	}
	return all
}

// merged returns what the shards know together: for each page, what its own shard says.
func (p *paperTerrain) merged() (map[string]near, map[string]bool) {
	depths, visited := map[string]near{}, map[string]bool{}
	for _, s := range p.shards {
		err := s.store.View(func(tx *kv.Tx) error {
			return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
				norm, err := tx.URLs.Norm(u.ID)
				if u.Kind != schema.KindPage {
					return true, err
				}
				if s.store.Foreign(u.Host) {
					if s.store.Latest(u.ID) != 0 {
						p.t.Errorf("shard %d has visited %s", s.part.Shard, norm)
					}
					return true, err
				}
				if d, h := s.store.Depth(u.ID); d != kv.NoDepth {
					depths[norm] = near{int(d), int(h), s.store.Own(u.ID)}
				}
				if s.store.Latest(u.ID) != 0 {
					visited[norm] = true
				}
				return true, err
			})
		})
		if err != nil {
			p.t.Fatal(err)
		}
		s.kill()
		crawltest.Verify(p.t, s.path)
	}
	return depths, visited
}

// TestShards crawls random webs with one to four shards, which lose letters and files, and compares
// their joint result with that of one crawl. The end of a run is never found while something is
// left to do or to send. RIPPLE_PROOF_WEBS is the number of webs.
func TestShards(t *testing.T) {
	t.Parallel()
	seed, webs := crawltest.Seed(t), 20
	if crawltest.Full() {
		webs = 50
	}
	webs = crawltest.Number("RIPPLE_PROOF_WEBS", webs)
	var sum paperTerrain
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		web, maxDepth, sitemaps := randomVoices(r), 1+r.IntN(3), randomSitemaps(r)
		whole := newPaper(t, r, web, twoOriginsWith(maxDepth, sitemaps))
		wantDepths, wantVisited := whole.run(0)
		p := newPaperTerrain(t, r, web, twoOriginsWith(maxDepth, sitemaps), 1+r.IntN(4))
		depths, visited := p.run(r.IntN(300))
		if got, want := p.mergedDigest(), crawltest.Digest(t, whole.path); got != want {
			t.Fatalf("web %d of seed %d, %d shards: digest %s, want %s", i, seed, len(p.shards), got, want)
		}
		if !maps.Equal(depths, wantDepths) {
			t.Fatalf("web %d of seed %d, %d shards: %s", i, seed, len(p.shards), difference(depths, wantDepths))
		}
		if !maps.Equal(visited, wantVisited) {
			t.Fatalf("web %d of seed %d, %d shards: visited %v, want %v", i, seed, len(p.shards), visited, wantVisited)
		}
		p.mergedWithout(depths)
		if t.Failed() {
			t.Fatalf("web %d of seed %d, %d shards", i, seed, len(p.shards))
		}
		sum.letters, sum.dropped, sum.kills = sum.letters+p.letters, sum.dropped+p.dropped, sum.kills+p.kills
		sum.backs, sum.recreated = sum.backs+p.backs, sum.recreated+p.recreated
		sum.partial += p.partial
		sum.looks, sum.agreed = sum.looks+p.looks, sum.agreed+p.agreed
	}
	t.Logf("%d letters, %d of them lost; %d kills, %d files gone back, %d recreated; "+
		"%d looks for the end, %d find it; %d maps without a shard",
		sum.letters, sum.dropped, sum.kills, sum.backs, sum.recreated, sum.looks, sum.agreed, sum.partial)
	if crawltest.Full() && sum.dropped*sum.kills*sum.backs*sum.recreated*sum.partial == 0 {
		t.Error("something never happened")
	}
}
