package statefile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// TestMain lets the test binary be the process that checks a file.
func TestMain(m *testing.M) {
	if !slices.Contains(os.Args, "check-file") {
		os.Exit(m.Run())
	}
	if err := CheckFile(os.Stdout, os.Getenv(EnvCheck), slices.Contains(os.Args, "--digest")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestCheckTellsLongProblems damages a file at a URL that is longer than a line of the check may
// be.
func TestCheckTellsLongProblems(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Depth("a.test/"+strings.Repeat("x", 2<<20), 0, 0) // and it is in no queue
	path := w.Store.Path()
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := CheckApart(t.Context(), path, false)
	if err != nil || v.Whole || !strings.HasPrefix(v.Problems[0], "https://a.test/xxx") {
		t.Errorf("the verdict is %+.500v, %v", v, err)
	}
}

// A check that has found damage reports it, however long it has then waited for the disk.
func TestLateCheck(t *testing.T) {
	for _, tt := range []struct {
		found  []string
		worked time.Duration
		want   string
	}{
		{nil, 9 * time.Second, "the check did not end within 10 s: its pages lead in circles"},
		{nil, time.Second, ""},
		{[]string{"damage"}, time.Second, "damage; the check did not end within 10 s: it waits for the disk"},
	} {
		v := &Verdict{Found: len(tt.found), Problems: tt.found}
		err := v.late(10*time.Second, tt.worked)
		if got := strings.Join(v.Problems, "; "); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("found %q, worked %v: %q, %v", tt.found, tt.worked, got, err)
		}
	}
}

// Only for the file of one machine, a crawl that begins again is a way out of damage.
func TestAdvice(t *testing.T) {
	for origin, want := range map[string]string{
		fromCrawl: `bring back a backup, or start again with "ripple crawl --fresh", which keeps this file beside the new one`,
		fromShard: `bring back its newest copy, or if there is none, recreate it with "ripple shard recreate"`,
		fromMerge: "bring back a backup, or merge the shards again, each with its newest file",
		"": "bring back a backup; if it was merged from shards, merge them again; if it is the file of one machine, " +
			`start again with "ripple crawl --fresh", which keeps this file beside the new one`,
	} {
		if got := (&Verdict{Origin: origin}).Advice(); got != want {
			t.Errorf("of %q: %q", origin, got)
		}
	}
}

// A file says how it came to be.
func TestOrigin(t *testing.T) {
	for want, write := range map[string]func(*kv.Tx) error{
		fromCrawl: func(*kv.Tx) error { return nil },
		fromShard: func(tx *kv.Tx) error {
			return tx.Part.Put(schema.Part{Terrain: [16]byte{1}, Rule: shard.Version, Shards: 2, Run: 1})
		},
		fromMerge: func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaMerged, []byte{1}) },
	} {
		store, err := kv.Open(filepath.Join(t.TempDir(), "s.bolt"), kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if err := store.Update(write); err != nil {
			t.Fatal(err)
		}
		if got, err := originOf(store); got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}
