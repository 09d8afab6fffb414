package main

import (
	"bytes"
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/sqlite"
)

// TestKilledWhileExporting kills exports at random moments: under the name of the
// output there is always a whole file, the old one or the new one.
func TestKilledWhileExporting(t *testing.T) {
	kills := 12
	if os.Getenv("RIPPLE_PROOF") == "full" {
		kills = 150
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	program, cfg := built(t), crawled(t, seed)
	out := filepath.Join(t.TempDir(), "terrain.db")
	export := func() *exec.Cmd { return exec.Command(program, "export", "--config", cfg, "--sqlite", out) }
	began := time.Now()
	if text, err := export().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	usual := time.Since(began)
	before, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	killed, kept := 0, 0
	for range kills {
		cmd := export()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(usual)))+time.Millisecond, func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		}
		timer.Stop()
		if after, err := os.ReadFile(out); err == nil && bytes.Equal(after, before) {
			kept++
			continue
		}
		requireWhole(t, out)
	}
	age(t, filepath.Dir(out))
	if text, err := export().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	requireWhole(t, out)
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	if killed == 0 {
		t.Error("no export was killed")
	}
	t.Logf("seed %d: %d kills, the old file untouched after %d exports, 0 torn", seed, killed, kept)
}

func requireWhole(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := sqlite.Check(context.Background(), db); err != nil {
		t.Fatalf("the output is not whole: %v", err)
	}
}

// age makes all files of a folder old enough to be cleared away.
func age(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-24 * time.Hour)
	for _, e := range entries {
		if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
}
