package exchange

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A testShard is shard 0 of 2, with pages of the other one, whose recorder only keeps what
// it is told.
type testShard struct {
	t     testing.TB
	mu    sync.Mutex // of store
	store *kv.Store
	told  []ring.Referral
	asked []ring.Errand
	ready *ring.Report // of each errand
	pages []schema.ID  // of the other shard
}

func newShard(t testing.TB, pages ...string) *testShard {
	t.Helper()
	s := &testShard{t: t}
	store, err := kv.Open(filepath.Join(t.TempDir(), "state.bolt"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s.store = store
	s.update(func(tx *kv.Tx) error {
		_, err := tx.Openings.Begin()
		return errors.Join(err, tx.Part.Put(schema.Part{
			Terrain: [16]byte{1}, Rule: shard.Version, Shard: 0, Shards: 2, Run: 3, Configuration: 5,
		}))
	})
	for _, path := range pages {
		s.update(func(tx *kv.Tx) error { return s.meet(tx, path) })
	}
	return s
}

// otherHost is a host of shard 1 of 2.
func otherHost(t testing.TB) string {
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if name := fmt.Sprintf("h%d.test", i); rule.Of(name) == 1 {
			return name
		}
	}
}

// meet records a page of the other shard, and marks it.
func (s *testShard) meet(tx *kv.Tx, path string) error {
	name := otherHost(s.t)
	host, found, err := tx.Hosts.Lookup(name)
	if err == nil && !found {
		var h *schema.Host
		if h, err = tx.Hosts.Add(name); err == nil {
			host = h.ID
		}
	}
	if err != nil {
		return err
	}
	u := schema.URL{Host: host, PathQuery: path}
	id, err := tx.URLs.Add(u, s.store.Hash(schema.KindPage, "https://"+name+path))
	if err == nil {
		s.pages = append(s.pages, id)
		tx.Outbox.Mark(id)
	}
	return err
}

func (s *testShard) View(f func(*kv.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.View(f)
}

func (s *testShard) Update(f func(*kv.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.Update(f)
}

func (s *testShard) update(f func(*kv.Tx) error) {
	s.t.Helper()
	if err := s.Update(f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testShard) Apply(told []ring.Referral) error {
	s.told = append(s.told, told...)
	return s.store.Update(func(*kv.Tx) error { return nil })
}

func (s *testShard) Errand(e ring.Errand, at, most int) (ring.Report, bool, error) {
	s.asked = append(s.asked, e)
	if s.ready == nil {
		return ring.Report{}, false, nil
	}
	return s.ready.Piece(at, most), true, nil
}

func (s *testShard) Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error) {
	norm, err := tx.URLs.Norm(id)
	return ring.Referral{URL: norm, Forms: []string{norm}, Told: schema.Inbound{Depth: 1, Every: -1}}, err
}

func (s *testShard) MarkAgain(tx *kv.Tx, _ int, from schema.ID, _ int) (schema.ID, error) {
	tx.Outbox.Mark(from)
	if int(from) == s.store.URLs() {
		return 0, nil
	}
	return from + 1, nil
}

// marked is how many pages the other shard has still to be told of.
func (s *testShard) marked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := s.store.Marked(1)
	return n
}

// letterTo is a letter to the shard, as the other one writes it.
func (s *testShard) letterTo() letter {
	s.t.Helper()
	l := letter{Terrain: make([]byte, 16), From: 1, Run: 3, Configuration: 5, Referrals: []ring.Referral{{
		URL: "https://a.test/", Forms: []string{"https://a.test/", "https://www.a.test/"}, HTTPS: true,
		Told: schema.Inbound{Run: 3, Configuration: 5, Depth: 2, Hops: 1, Listed: true, Changed: time.Unix(1e9, 0).UTC(),
			Every: time.Hour},
	}}}
	l.Terrain[0] = 1
	if err := s.store.View(func(tx *kv.Tx) error {
		opening, commit, err := tx.Openings.Now()
		l.Opening, l.Commit = opening[:], commit
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return l
}

func written(l letter) []byte { return l.text() }

// Letters are as nodes of this protocol have agreed. Who changes them gives the protocol of package
// node another number: nodes of two kinds understand each other in part only.
func TestLetterIsAsAgreed(t *testing.T) {
	l := letter{
		Terrain: []byte("terrain of bytes"), To: 1, From: 2, Opening: []byte("opening of bytes"), Commit: 3, Run: 4, Configuration: 5,
		Referrals: []ring.Referral{
			{URL: "https://a.test/", Forms: []string{"https://a.test/"}, Told: schema.Inbound{Every: -1}},
			{Kind: schema.KindSitemap, URL: "https://b.test/", Forms: []string{"https://b.test/", "http://b.test/"}, HTTPS: true,
				Told: schema.Inbound{Depth: 2, Hops: 1, Listed: true, Changed: time.Unix(1e9, 0), Every: time.Hour}},
		},
	}
	const want = `{"terrain":"dGVycmFpbiBvZiBieXRlcw==","from":2,"to":1,"opening":"b3BlbmluZyBvZiBieXRlcw==","commit":3,"run":4,` +
		`"configuration":5}` + "\n" +
		"\x00\x00\x00\x00\x0fhttps://a.test/\x00" +
		"\x01\x0f\x02\x01\x0fhttps://b.test/\x02\x0fhttps://b.test/\x0ehttp://b.test/\x80\xa8ֹ\a\x80\xc0\xe2\x85\xe3h"
	if diff := cmp.Diff(want, string(l.text())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A letter is applied if it is for the shard, its present opening, and its run and
// configuration; nothing else is.
func TestReceiver(t *testing.T) {
	tests := []struct {
		name   string
		change func(*letter)
		want   verdict
	}{
		{"as it should be", func(*letter) {}, done},
		{"of another terrain", func(l *letter) { l.Terrain[0] = 2 }, refused},
		{"for another shard", func(l *letter) { l.To = 1 }, refused},
		{"from itself", func(l *letter) { l.From = 0 }, refused},
		{"from no shard", func(l *letter) { l.From = 2 }, refused},
		{"from a negative shard", func(l *letter) { l.From = -1 }, refused},
		{"for an earlier opening", func(l *letter) { l.Opening[3]++ }, moved},
		{"of a later run", func(l *letter) { l.Run, l.Configuration = 4, 0 }, later},
		{"of an earlier run", func(l *letter) { l.Run, l.Configuration = 2, 9 }, older},
		{"of a later configuration", func(l *letter) { l.Configuration = 6 }, later},
		{"of an earlier configuration", func(l *letter) { l.Configuration = 4 }, older},
		{"half an opening", func(l *letter) { l.Opening = l.Opening[:8] }, refused},
		{"half a terrain", func(l *letter) { l.Terrain = nil }, refused},
		{"with five forms", func(l *letter) { l.Referrals[0].Forms = make([]string, 5) }, refused},
		{"too long", func(l *letter) { l.Referrals[0].URL = strings.Repeat("x", MaxLetter) }, refused},
		{"an errand", func(l *letter) { l.Referrals, l.Errand = nil, &errand{ID: 7, URL: "https://a.test/robots.txt"} }, busy},
		{"an errand for an earlier opening", func(l *letter) { l.Referrals, l.Errand, l.Opening[3] = nil, &errand{}, 9 }, busy},
		{"an errand of a later run", func(l *letter) { l.Referrals, l.Errand, l.Run = nil, &errand{}, 9 }, later},
		{"an errand from itself", func(l *letter) { l.Referrals, l.Errand, l.From = nil, &errand{}, 0 }, refused},
		{"an errand beside referrals", func(l *letter) { l.Errand = &errand{} }, refused},
		{"a question", func(l *letter) { l.Referrals = nil }, contains},
		{"a question about nothing", func(l *letter) { l.Referrals, l.Commit = nil, 0 }, lacks},
		{"a question about what is to come", func(l *letter) { l.Referrals, l.Commit = nil, 99 }, lacks},
		{"a question about another file", func(l *letter) { l.Referrals = nil; l.Opening[0]++ }, lacks},
		{"a question of a later run", func(l *letter) { l.Referrals, l.Run = nil, 9 }, contains},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShard(t)
			l := s.letterTo()
			opening := schema.Opening(l.Opening)
			tt.change(&l)
			before := s.store.LastCommit()
			text, err := NewReceiver(s).Answer(written(l))
			if err != nil {
				t.Fatal(err)
			}
			a, err := decodeAnswer(text)
			if err != nil || a.Verdict != tt.want {
				t.Fatalf("it answers %+v, %v; want %s", a, err, tt.want)
			}
			if (len(s.told) == 1) != (tt.want == done) {
				t.Errorf("%d referrals are applied", len(s.told))
			}
			if tt.want == refused {
				return
			}
			if schema.Opening(a.Opening) != opening || a.Run != 3 || a.Configuration != 5 || a.Commit != s.store.LastCommit() ||
				(a.Commit > before) != (tt.want == done) {
				t.Errorf("it answers %+v after commit %d, now %d", a, before, s.store.LastCommit())
			}
		})
	}
}

// What is applied is what was sent.
func TestReferralsArriveWhole(t *testing.T) {
	s := newShard(t)
	l := s.letterTo()
	told := func(depth uint8) schema.Inbound {
		return schema.Inbound{Run: 3, Configuration: 5, Depth: depth, Every: -1}
	}
	l.Referrals = append(l.Referrals,
		ring.Referral{URL: "https://b.test/", Forms: []string{"https://b.test/"}, Told: told(0)},
		ring.Referral{URL: "https://b.test/2", Forms: []string{"http://b.test/2"}, Told: told(kv.NoDepth)},
		ring.Referral{Kind: schema.KindSitemap, URL: "https://b.test/" + strings.Repeat("x", 300),
			Forms: []string{"https://b.test/\xff"}, Told: told(1)},
	)
	l.Referrals[3].Told.Changed, l.Referrals[3].Told.Every = time.Unix(-1, 0).UTC(), 0
	if _, err := NewReceiver(s).Answer(written(l)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Referrals, s.told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is cut off, or goes on, is no letter.
func TestLetterIsWhole(t *testing.T) {
	l := newShard(t).letterTo()
	text, head := written(l), len(encode(l))+1
	for n := range len(text) {
		if _, err := decodeLetter(text[:n]); (err == nil) != (n == head || n == head-1) {
			t.Errorf("the first %d bytes of %d, of which %d are the head: %v", n, len(text), head, err)
		}
	}
	fields := "\x00\x00\x00" // depth, hops, and the length of the URL
	for _, more := range []string{
		"\x00", "\x00\x10" + fields + "\x00", "\x00\x00" + fields + "\x05\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x04a",
		"\x00\x08" + fields + "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x00\x04" + fields + "\x00\xff",
	} {
		if _, err := decodeLetter(append(text[:len(text):len(text)], more...)); err == nil {
			t.Errorf("it may go on with %q", more)
		}
	}
}

// A scripted carrier answers as a function says.
type scripted func(l letter) (answer, error)

func (f scripted) Ask(_ context.Context, to int, text []byte) ([]byte, error) {
	l, err := decodeLetter(text)
	if err != nil || to != 1 || l.To != 1 || l.From != 0 {
		return nil, fmt.Errorf("letter from %d to %d, %d: %w", l.From, l.To, to, err)
	}
	a, err := f(l)
	return encode(a), err
}

// here is the peer's opening; elsewhere another one.
func here() []byte      { return []byte("the peer's one..") }
func elsewhere() []byte { return []byte("another opening.") }

// Only that the letter was applied, in the opening that was asked about, takes anything out
// of the outbox.
func TestSenderBelieves(t *testing.T) {
	for name, v := range map[string]struct {
		answer answer
		err    error
		left   int
	}{
		"done":             {answer{Verdict: done, Opening: here(), Commit: 9}, nil, 0},
		"done elsewhere":   {answer{Verdict: done, Opening: elsewhere(), Commit: 9}, nil, 2},
		"later":            {answer{Verdict: later, Opening: here(), Commit: 9}, nil, 2},
		"older":            {answer{Verdict: older, Opening: here(), Commit: 9}, nil, 2},
		"moved":            {answer{Verdict: moved, Opening: elsewhere(), Commit: 9}, nil, 2},
		"refused":          {answer{Verdict: refused}, nil, 2},
		"contains":         {answer{Verdict: contains, Opening: here(), Commit: 9}, nil, 2},
		"something":        {answer{Verdict: "x", Opening: here(), Commit: 9}, nil, 2},
		"half an opening":  {answer{Verdict: done, Opening: here()[:3], Commit: 9}, nil, 2},
		"nothing":          {answer{}, ErrNobody, 2},
		"done, but failed": {answer{Verdict: done, Opening: here(), Commit: 9}, ErrNobody, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShard(t, "/1", "/2")
			sent := 0
			sender := NewSender(s, scripted(func(l letter) (answer, error) {
				if len(l.Referrals) == 0 {
					return answer{Verdict: lacks, Opening: here(), Commit: 1}, nil
				}
				sent++
				if schema.Opening(l.Opening) != schema.Opening(here()) || len(l.Referrals) != 2 || l.Run != 3 {
					t.Errorf("letter %+v", l)
				}
				return v.answer, v.err
			}), 1)
			steps(t, sender, 2)
			if s.marked() != v.left || sent != 1 {
				t.Errorf("%d pages are left after %d letters, want %d", s.marked(), sent, v.left)
			}
			want := schema.Peer{}
			if v.left == 0 {
				want = schema.Peer{Opening: schema.Opening(here()), Commit: 9}
			}
			if got := s.peer(); got != want {
				t.Errorf("the peer is %+v, want %+v", got, want)
			}
		})
	}
}

// A shard that does not crawl is told nothing, nor asked in vain.
func TestNotNow(t *testing.T) {
	s := newShard(t, "/1")
	peer := scripted(func(letter) (answer, error) { return decodeAnswer(NotNow()) })
	if p := steps(t, NewSender(s, peer, 1), 2); p != Stuck || s.marked() != 1 || s.peer() != (schema.Peer{}) {
		t.Errorf("progress %d, %d left, the peer is %+v", p, s.marked(), s.peer())
	}
	e := ring.Errand{To: 1, URL: "https://a.test/robots.txt"}
	if r, known, err := Inquire(t.Context(), s, peer, e, 0, free); known || err != nil {
		t.Errorf("report %+v, %v, %v", r, known, err)
	}
}

func (s *testShard) peer() (p schema.Peer) {
	s.t.Helper()
	if err := s.store.View(func(tx *kv.Tx) (err error) { p, err = tx.Peers.At(1); return err }); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func steps(t *testing.T, s *Sender, n int) (p Progress) {
	t.Helper()
	for range n {
		var err error
		if p, err = s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// What changes while a letter is under way is told by the next one.
func TestSenderKeepsWhatChanged(t *testing.T) {
	s := newShard(t, "/1", "/2")
	letters := 0
	sender := NewSender(s, scripted(func(l letter) (answer, error) {
		if len(l.Referrals) == 0 {
			return answer{Verdict: contains, Opening: here()}, nil
		}
		if letters++; letters == 1 {
			s.update(func(tx *kv.Tx) error { tx.Outbox.Mark(s.pages[1]); return s.meet(tx, "/3") })
		}
		return answer{Verdict: done, Opening: here(), Commit: uint64(10 - letters)}, nil
	}), 1)
	steps(t, sender, 2)
	if s.marked() != 2 {
		t.Errorf("%d pages are left, want 2", s.marked())
	}
	if p := steps(t, sender, 2); p != Idle || s.marked() != 0 || letters != 2 {
		t.Errorf("%d pages are left after %d letters", s.marked(), letters)
	}
	if got, want := s.peer(), (schema.Peer{Opening: schema.Opening(here()), Commit: 9}); got != want {
		t.Errorf("the peer is %+v, want %+v: the highest commit", got, want)
	}
}

// A peer that has lost what it answered is told all again, by a sender of a later process
// too; one that has not is told nothing.
func TestSenderTellsAgain(t *testing.T) {
	s := newShard(t, "/1", "/2", "/3")
	told, verdictNow := 0, contains
	carrier := scripted(func(l letter) (answer, error) {
		if len(l.Referrals) == 0 {
			return answer{Verdict: verdictNow, Opening: here(), Commit: 7}, nil
		}
		told += len(l.Referrals)
		return answer{Verdict: done, Opening: here(), Commit: 7}, nil
	})
	steps(t, NewSender(s, carrier, 1), 3)
	if ok, err := NewSender(s, carrier, 1).Confirm(t.Context()); !ok || err != nil || told != 3 || s.marked() != 0 {
		t.Fatalf("a peer that has all is confirmed: %t, %v; it was told %d", ok, err, told)
	}
	verdictNow = lacks
	if ok, err := NewSender(s, carrier, 1).Confirm(t.Context()); ok || err != nil || s.peer() != (schema.Peer{Cursor: 1}) {
		t.Fatalf("a peer that lacks something is confirmed: %t, %v, %+v", ok, err, s.peer())
	}
	steps(t, NewSender(s, carrier, 1), 1)
	if _, more := s.store.Marked(1); !more {
		t.Error("the cursor is at its end")
	}
	if p := steps(t, NewSender(s, carrier, 1), 6); p != Idle || told != 6 || s.marked() != 0 {
		t.Errorf("it was told %d in all, %d are left", told, s.marked())
	}
}

// Letters hold what fits, and all of them everything.
func TestLetterSize(t *testing.T) {
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprintf("/%d?%s", i, strings.Repeat("x", 9000)))
	}
	s := newShard(t)
	s.update(func(tx *kv.Tx) (err error) {
		for _, path := range paths {
			err = errors.Join(err, s.meet(tx, path))
		}
		return err
	})
	letters := 0
	sender := NewSender(s, scripted(func(l letter) (answer, error) {
		if letters++; len(l.Referrals) == 0 {
			return answer{Verdict: lacks, Opening: here()}, nil
		}
		return answer{Verdict: done, Opening: here(), Commit: 7}, nil
	}), 1)
	for i := 0; s.marked() > 0 && i < 100; i++ {
		steps(t, sender, 1)
	}
	if s.marked() != 0 || letters < 5 || letters > 10 {
		t.Errorf("%d pages are left after %d letters", s.marked(), letters)
	}
}

// A sender tries for as long as nobody answers, waits for more when all is told, and ends
// with its context.
func TestSenderRuns(t *testing.T) {
	s := newShard(t, "/1")
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var tries atomic.Int64
		carrier := scripted(func(l letter) (answer, error) {
			if tries.Add(1) < 6 {
				return answer{}, ErrNobody
			}
			return answer{Verdict: map[bool]verdict{true: lacks, false: done}[len(l.Referrals) == 0], Opening: here(), Commit: 1},
				nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		changed, ended := make(chan struct{}), make(chan error)
		go func() {
			ended <- NewSender(s, carrier, 1).Run(ctx, changed, Pace{time.Second, time.Second, 4 * time.Second})
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.marked() != 0 || tries.Load() != 7 {
			t.Errorf("%d pages are left after %d tries and %s", s.marked(), tries.Load(), time.Since(begun))
		}
		s.update(func(tx *kv.Tx) error { return s.meet(tx, "/2") })
		changed <- struct{}{}
		synctest.Wait()
		if s.marked() != 0 || tries.Load() != 8 {
			t.Errorf("%d pages are left after %d tries", s.marked(), tries.Load())
		}
		for _, page := range []string{"/3", "/4"} {
			s.update(func(tx *kv.Tx) error { return s.meet(tx, page) })
		}
		if synctest.Wait(); s.marked() != 2 || tries.Load() != 8 {
			t.Errorf("soon after a letter %d pages are left after %d tries", s.marked(), tries.Load())
		}
		time.Sleep(time.Second)
		if synctest.Wait(); s.marked() != 0 || tries.Load() != 9 {
			t.Errorf("after that %d pages are left after %d tries", s.marked(), tries.Load())
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// FuzzLetter: whatever somebody writes is answered, and a letter that is read is written as
// it was read.
func FuzzLetter(f *testing.F) {
	s := newShard(f)
	f.Add(written(s.letterTo()))
	f.Add([]byte(`{"terrain":"AQAAAAAAAAAAAAAAAAAAAA==","opening":"AQAAAAAAAAAAAAAAAAAAAA==","from":1}` +
		"\n\x00\x0f\x00\x00\x00\x01\x00\x01\x00"))
	f.Add([]byte(`{} {}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := NewReceiver(s).Answer(text); err != nil {
			t.Fatal(err)
		}
		l, err := decodeLetter(text)
		if err != nil {
			return
		}
		again, err := decodeLetter(written(l))
		if len(written(l)) <= MaxLetter && (err != nil || !cmp.Equal(l, again)) {
			t.Errorf("%+v is read as %+v, %v", l, again, err)
		}
	})
}

// FuzzAnswer: an answer that is read is written as it was read.
func FuzzAnswer(f *testing.F) {
	f.Add(encode(answer{Verdict: done, Opening: here(), Commit: 1, Run: 2, Configuration: 3}))
	f.Add([]byte(`{"verdict":"refused"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := decodeAnswer(text)
		if err != nil {
			return
		}
		if again, err := decodeAnswer(encode(a)); err != nil || !cmp.Equal(a, again) {
			t.Errorf("%+v is read as %+v, %v", a, again, err)
		}
	})
}
