package main

import (
	"bytes"
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/export/sqlite"
)

// TestKilledWhileExporting kills exports at random moments, and lets some finish: there is always a
// complete file under the name of the output, the old one or the new one.
func TestKilledWhileExporting(t *testing.T) {
	t.Parallel()
	kills := 12
	if crawltest.Full() {
		kills = 80
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	cfg := rippletest.Crawled(t, seed)
	out := filepath.Join(t.TempDir(), "terrain.db")
	export := func() *exec.Cmd { return ripple("export", "--config", cfg, "--sqlite", out) }
	if text, err := export().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	before, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	killed, kept := 0, 0
	long := time.Second // about the duration of an export, on a machine that other work may slow down at any time
	for tries := 0; killed < kills && tries < 20*kills; tries++ {
		if took, dead := killedAfter(t, export(), time.Duration(r.Int64N(int64(long)))); dead {
			killed++
			long += long / 10
		} else {
			long = took
		}
		if after, err := os.ReadFile(out); err == nil && bytes.Equal(after, before) {
			kept++
			continue
		}
		requireWhole(t, out)
	}
	if text, err := export().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	requireWhole(t, out)
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	if killed < kills {
		t.Errorf("%d exports were killed, want %d", killed, kills)
	}
	t.Logf("seed %d: %d kills, the old file untouched after %d exports, 0 torn", seed, killed, kept)
}

// TestInterruptedWhileExporting sends Ctrl-C to exports at random moments: each ends with its exit
// code and leaves only complete outputs.
func TestInterruptedWhileExporting(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent Ctrl-C here")
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	cfg := rippletest.CrawledKept(t, seed)
	dir := t.TempDir()
	args := []string{"export", "--config", cfg, "--sqlite", filepath.Join(dir, "x.db"),
		"--map", filepath.Join(dir, "x.html"), "--csv", filepath.Join(dir, "csv"), "--wacz", filepath.Join(dir, "x.wacz")}
	stopped, long := 0, time.Second
	for tries := 0; stopped < 6 && tries < 100; tries++ {
		cmd := ripple(args...)
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(long))), func() { _ = cmd.Process.Signal(os.Interrupt) })
		_ = cmd.Wait()
		timer.Stop()
		switch code := cmd.ProcessState.ExitCode(); code {
		case 0:
			long = time.Since(begun)
		case 130:
			stopped++
			long += long / 10
		case -1: // before it had registered for signals
		default:
			t.Fatalf("exit code %d", code)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name := e.Name(); name != "x.db" && name != "x.html" && name != "x.wacz" &&
				name != "csv" && cmd.ProcessState.ExitCode() >= 0 {
				t.Errorf("left in the folder: %s", name)
			}
		}
	}
	if stopped < 6 {
		t.Errorf("%d exports were stopped, want 6", stopped)
	}
	requireWhole(t, filepath.Join(dir, "x.db"))
}

// killedAfter kills an export after a time, and reports its duration, and whether it was killed
// before its end.
func killedAfter(t *testing.T, cmd *exec.Cmd, after time.Duration) (took time.Duration, dead bool) {
	t.Helper()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	return time.Since(begun), err != nil
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
