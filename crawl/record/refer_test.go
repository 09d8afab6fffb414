package record

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// newShard is a recorder of the shard of a.test, of two, at run 2 and configuration 3, in
// a run of its own; foreign is a host of the other shard.
func newShard(t *testing.T, path, text string) (r *Recorder, foreign string) {
	t.Helper()
	own, foreign := ownAndForeign(t, "h")
	set, err := ring.NewSettings(crawltest.Parse(t, text+head))
	ok(t, err)
	t.Cleanup(set.Client.Close)
	store := crawltest.Open(t, path)
	part := schema.Part{Terrain: [16]byte{1}, Rule: shard.Version, Shard: own, Shards: 2, Run: 2, Configuration: 3}
	ok(t, store.Update(func(tx *kv.Tx) error { return tx.Part.Put(part) }))
	r = New(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	_, err = r.Begin(t.Context())
	ok(t, err)
	return r, foreign
}

// ownAndForeign returns the shard of a.test, of two, and a host of the other one.
func ownAndForeign(t *testing.T, prefix string) (own int, foreign string) {
	t.Helper()
	rule, err := shard.New(2)
	ok(t, err)
	own = rule.Of("a.test")
	for i := 0; foreign == "" || rule.Of(foreign) == own; i++ {
		foreign = fmt.Sprintf("%s%d.test", prefix, i)
	}
	return own, foreign
}

// turn does something in a turn of its own.
func (r *Recorder) turn(t *testing.T, f func(turn turn)) {
	t.Helper()
	ok(t, r.in.store.Update(func(tx *kv.Tx) error {
		turn, err := r.open(tx)
		if err == nil {
			f(turn)
			err = tx.Runs.Put(r.in.run)
		}
		return errors.Join(err, tx.Depths.SetPending(r.reach.work))
	}))
}

func (r *Recorder) marked() int { n, _ := r.in.store.Marked(1 - r.in.store.Part().Shard); return n }

// A host that other shards are told of is named with https from the commit on in which it first
// was, and stays so when the process ends.
func TestReferralSaysHTTPS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	r, foreign := newShard(t, path, "")
	page, id := foreign+"/p", schema.ID(0)
	says := func(r *Recorder, want bool) {
		t.Helper()
		for range 2 { // and so it does when it is asked again
			ok(t, r.in.store.View(func(tx *kv.Tx) error {
				ref, err := r.Referral(tx, id)
				if ref.HTTPS != want {
					t.Errorf("it says %t, want %t", ref.HTTPS, want)
				}
				return err
			}))
		}
	}
	r.turn(t, func(turn) { id = r.met(t, "http://"+page) })
	says(r, false)
	r.turn(t, func(turn) { r.met(t, "https://"+page) })
	says(r, true)
	ok(t, r.in.store.Close())
	r, _ = newShard(t, path, "")
	says(r, true)
}

// A page of another shard is never queued. Whatever changes of it is to be told, and
// nothing else is.
func TestForeignPage(t *testing.T) {
	_, origin := ownAndForeign(t, "o")
	r, foreign := newShard(t, filepath.Join(t.TempDir(), "state.bolt"), fmt.Sprintf("[crawler]\nmax-depth = 2\n"+
		"[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", origin, origin))
	page, id := "https://"+foreign+"/p", schema.ID(0)
	acknowledged := func(what string, want int, f func(turn turn)) {
		t.Helper()
		r.turn(t, f)
		if r.marked() != want {
			t.Errorf("%s: %d pages are marked, want %d", what, r.marked(), want)
		}
		ok(t, r.in.store.Update(func(tx *kv.Tx) error {
			return tx.Outbox.Acknowledge([]schema.ID{id}, r.in.store.LastCommit())
		}))
	}
	acknowledged("met", 1, func(turn) { id = r.met(t, page) })
	acknowledged("met again", 0, func(turn) { r.met(t, page) })
	acknowledged("another form", 1, func(turn) { r.met(t, "https://www."+foreign+"/p") })
	acknowledged("a distance", 1, func(turn) { ok(t, r.reach.relax(id, way{depth: 2, hops: 1})) })
	acknowledged("the same distance", 0, func(turn) { ok(t, r.reach.relax(id, way{depth: 2, hops: 1})) })
	acknowledged("too far", 0, func(turn) { ok(t, r.reach.relax(id, way{depth: 4, hops: 4})) })
	page = "https://" + origin + "/p"
	acknowledged("of an origin, met", 1, func(turn) { id = r.met(t, page) })
	acknowledged("of an origin, another form", 1, func(turn) { r.met(t, "https://www."+origin+"/p") })
	listed := func(day int) func(turn) {
		return func(turn) {
			file := r.met(t, "https://a.test/sitemap") // stands for one
			r.in.speaks.Add(file, origin)
			entry := schema.SitemapEntry{To: id, LastMod: time.Unix(int64(day)*86400, 0).UTC(), ChangeFreq: "hourly"}
			ok(t, r.reach.carrySitemap(&schema.Visit{URL: file, At: time.Unix(1e9, 0), Sitemap: []schema.SitemapEntry{entry}}))
		}
	}
	acknowledged("listed", 1, listed(9))
	acknowledged("listed again", 0, listed(9))
	acknowledged("listed as of later", 1, listed(10))
	ok(t, r.in.store.View(func(tx *kv.Tx) error {
		got, err := r.Referral(tx, id)
		want := ring.Referral{
			URL: page, Forms: []string{page, "https://www." + origin + "/p"}, HTTPS: true,
			Told:    schema.Inbound{Run: 2, Configuration: 3, Listed: true, Changed: time.Unix(864000, 0).UTC()},
			Sitemap: "a.test", Vouchers: []string{origin},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("referral (-want +got):\n%s", diff)
		}
		h, err2 := tx.Hosts.At(r.in.store.HostOf(id))
		if err2 == nil && h.Waiting != 0 {
			t.Error("it waits")
		}
		return errors.Join(err, err2)
	}))
}

// The hosts of an origin may belong to several shards, where each is a site. A page that a sitemap on one of them names
// on another is told as one that is listed, without a date; once another sitemap speaks for its host, as that one says.
func TestListedOnAnotherHost(t *testing.T) {
	rule, err := shard.New(2)
	ok(t, err)
	hosts := map[bool]string{}
	for i := 0; len(hosts) < 2; i++ {
		name := fmt.Sprintf("h%d.github.io", i)
		hosts[rule.Of(name) == rule.Of("a.test")] = name
	}
	r, _ := newShard(t, filepath.Join(t.TempDir(), "state.bolt"),
		fmt.Sprintf("[[quality]]\ndomain = \"*.github.io\"\nseeds = [\"https://%s/\"]\n", hosts[true]))
	page, day := "https://"+hosts[false]+"/p", time.Unix(86400, 0).UTC()
	told := func(on string, vouched bool) (ref ring.Referral) {
		t.Helper()
		r.turn(t, func(turn) {
			file, id := r.met(t, "https://"+on+"/sitemap"), r.met(t, page) // the first is the sitemap
			if vouched {
				r.in.speaks.Add(file, hosts[false])
			}
			ok(t, r.reach.carrySitemap(&schema.Visit{URL: file, At: time.Unix(1e9, 0),
				Sitemap: []schema.SitemapEntry{{To: id, LastMod: day}}}))
		})
		if r.marked() == 0 {
			t.Error("nothing is to be told")
		}
		ok(t, r.in.store.View(func(tx *kv.Tx) (err error) {
			name, pathQuery := weburl.Split(page)
			host, _, err := tx.Hosts.Lookup(name)
			ok(t, err)
			id, _, err := tx.URLs.Lookup(r.in.store.Hash(schema.KindPage, page), host, schema.KindPage, pathQuery)
			ok(t, err)
			ref, err = r.Referral(tx, id)
			return err
		}))
		return ref
	}
	if ref := told(hosts[true], false); !ref.Told.Listed || !ref.Told.Changed.IsZero() || len(ref.Vouchers) > 0 {
		t.Errorf("told of as %+v", ref)
	}
	if ref := told("maps.test", true); ref.Sitemap != "maps.test" || !ref.Told.Changed.Equal(day) || len(ref.Vouchers) != 1 {
		t.Errorf("told of as %+v once another sitemap speaks for it", ref)
	}
}

// What a sitemap has said of a page of an origin is told again by the next process, unless the page is of none any
// more, or the sitemap is not of the run.
func TestListedByFormerOrigin(t *testing.T) {
	_, origin := ownAndForeign(t, "o")
	path := filepath.Join(t.TempDir(), "state.bolt")
	with := fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", origin, origin)
	r, _ := newShard(t, path, with)
	file := schema.ID(0)
	r.turn(t, func(turn turn) {
		page, to := r.met(t, "https://"+origin+"/p"), targetOf(r, mustParse(t, r, "https://a.test/sitemap.xml"))
		to.Hash = r.in.store.Hash(schema.KindSitemap, to.Norm)
		var err error
		file, err = r.urls.record(to, schema.KindSitemap, 0)
		ok(t, err)
		ok(t, r.reach.queueFile(file, 0))
		ok(t, r.reach.vouchInFile(file, origin))
		ok(t, turn.settle(r.hostOf(t, file), &schema.Visit{
			URL: file, Run: r.in.run.ID, State: schema.Processed, Status: 200, Requests: 1, Length: -1,
			Sitemap: []schema.SitemapEntry{{To: page, ChangeFreq: "never"}},
		}))
	})
	listed := func(want int) {
		t.Helper()
		if ok(t, r.recall()); len(r.reach.listings) != want {
			t.Errorf("%d pages are listed, want %d", len(r.reach.listings), want)
		}
	}
	listed(1)
	for _, then := range []struct {
		text string
		want int
	}{{with, 1}, {"", 0}} {
		ok(t, r.in.store.Close())
		r, _ = newShard(t, path, then.text)
		listed(0) // under a configuration that has changed nobody names the sitemap yet
		r.turn(t, func(turn) { ok(t, r.reach.queueFile(file, 0)) })
		listed(then.want)
	}
}

// What others tell of a page counts as far as it is nearer, is of the present run and
// configuration, and names a page of the shard; and again in a new generation of depths.
func TestRefer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	r, foreign := newShard(t, path, "[crawler]\nmax-depth = 2\n")
	const page = "https://a.test/told"
	tell := func(change func(ref *ring.Referral)) {
		t.Helper()
		ref := ring.Referral{URL: page, Forms: []string{page}, HTTPS: true}
		ref.Told = schema.Inbound{Run: 2, Configuration: 3, Depth: 2, Hops: 3}
		change(&ref)
		r.turn(t, func(turn turn) { ok(t, turn.refer(&ref)) })
	}
	before := r.in.store.URLs()
	tell(func(ref *ring.Referral) { ref.Told.Run = 1 })
	tell(func(ref *ring.Referral) { ref.Told.Configuration = 4 })
	tell(func(ref *ring.Referral) { ref.Forms = nil })
	tell(func(ref *ring.Referral) { ref.Forms = []string{"https://b.test/"} })
	tell(func(ref *ring.Referral) { ref.Kind = 2 })
	tell(func(ref *ring.Referral) { ref.URL = "https://A.test/told" })
	tell(func(ref *ring.Referral) {
		ref.URL, ref.Forms = "https://"+foreign+"/", []string{"https://" + foreign + "/"}
	})
	tell(func(ref *ring.Referral) { ref.URL = "nonsense" })
	if n := r.in.store.URLs(); n != before || r.in.store.Told() != 0 {
		t.Fatalf("%d URLs are known, %d told of", n, r.in.store.Told())
	}
	told := func(want schema.Inbound) {
		t.Helper()
		id := schema.ID(r.in.store.URLs())
		ok(t, r.in.store.View(func(tx *kv.Tx) error {
			got, _, err := tx.Inbound.At(id)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("inbound (-want +got):\n%s", diff)
			}
			h, err2 := tx.Hosts.At(r.in.store.HostOf(id))
			if depth, hops := r.in.store.Depth(id); err2 == nil && (depth != 0 || hops != want.Hops || h.Waiting == 0) {
				t.Errorf("depth %d after %d redirects, and %d wait", depth, hops, h.Waiting)
			}
			return errors.Join(err, err2)
		}))
	}
	tell(func(*ring.Referral) {})
	told(schema.Inbound{Run: 2, Configuration: 3, Depth: 2, Hops: 3})
	tell(func(ref *ring.Referral) { ref.Told.Depth, ref.Told.Hops, ref.Told.Listed = 3, 1, true })
	tell(func(ref *ring.Referral) { ref.Told.Hops, ref.Vouchers = 2, []string{"a.test"} })
	want := schema.Inbound{Run: 2, Configuration: 3, Depth: 2, Hops: 1, Listed: true, Own: true}
	told(want)
	ok(t, r.in.store.Close())
	was := r.in.store.Generation()
	if r, _ = newShard(t, path, "[crawler]\nmax-depth = 3\n"); r.in.store.Generation() == was {
		t.Error("the depths are those of before")
	}
	told(want)
}

// However much others have told, all of it counts again in a new generation of depths.
func TestReferAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	r, _ := newShard(t, path, "[crawler]\nmax-depth = 2\n")
	const pages = 2*toldAtOnce + 1
	r.turn(t, func(turn turn) {
		for i := range pages {
			page := fmt.Sprintf("https://a.test/%d", i)
			ok(t, turn.refer(&ring.Referral{URL: page, Forms: []string{page}, HTTPS: true,
				Told: schema.Inbound{Run: 2, Configuration: 3, Depth: 2, Hops: uint8(i%5 + 1)}}))
		}
	})
	ok(t, r.in.store.Close())
	r, _ = newShard(t, path, "[crawler]\nmax-depth = 3\n")
	last := schema.ID(r.in.store.URLs())
	for i := range pages {
		if depth, hops := r.in.store.Depth(last - pages + 1 + schema.ID(i)); depth != 0 || int(hops) != i%5+1 {
			t.Fatalf("page %d has depth %d after %d redirects", i, depth, hops)
		}
	}
}
