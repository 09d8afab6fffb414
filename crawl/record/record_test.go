package record

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const head = `
[user-agent]
crawler-name = "T"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`

// inTurn runs a test in the first turn of a run, under a configuration that says more
// than head.
func inTurn(t *testing.T, text string, f func(*Recorder, turn)) {
	t.Helper()
	inTurnOf(t, schema.Part{}, text, f)
}

// inTurnOf is inTurn with a file that holds a part of a terrain.
func inTurnOf(t *testing.T, part schema.Part, text string, f func(*Recorder, turn)) {
	t.Helper()
	set, err := ring.NewSettings(crawltest.Parse(t, text+head))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Client.Close)
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	if part.Shards > 0 {
		ok(t, store.Update(func(tx *kv.Tx) error {
			_, err := tx.Openings.Begin()
			return errors.Join(err, tx.Part.Put(part))
		}))
	}
	r := New(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	if _, err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = store.Update(func(tx *kv.Tx) error {
		turn, err := r.open(tx)
		if err == nil {
			f(r, turn)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// met records a page under a form.
func (r *Recorder) met(t *testing.T, form string) schema.ID {
	t.Helper()
	id, err := r.urls.record(targetOf(r, mustParse(t, r, form)), schema.KindPage, 0)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustParse(t *testing.T, r *Recorder, form string) weburl.URL {
	t.Helper()
	u, err := r.in.set.Rules.Parse(form)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func targetOf(r *Recorder, u weburl.URL) ring.Target {
	return ring.Target{URL: u, Hash: r.in.store.Hash(schema.KindPage, u.Norm)}
}

// hostOf loads the host of a page.
func (r *Recorder) hostOf(t *testing.T, id schema.ID) *schema.Host {
	t.Helper()
	h, err := r.hosts.load(r.in.store.HostOf(id))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ok fails the test with an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
