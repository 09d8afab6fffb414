package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
)

const envMutants = "RIPPLE_TEST_MUTANTS" // folder, seed, first and last mutant

// mutate damages the used part of a copy of a state file in one of the ways in which disks and
// people do.
func mutate(r *rand.Rand, raw []byte) []byte {
	const page = 4096
	raw = bytes.Clone(raw)
	at := func() int { return r.IntN(len(raw)/page) * page }
	switch r.IntN(6) {
	case 0:
		raw[r.IntN(len(raw))] ^= 1 << r.IntN(8)
	case 1:
		for range 1 + r.IntN(40) {
			raw[r.IntN(len(raw))] ^= 1 << r.IntN(8)
		}
	case 2:
		clear(raw[at():][:page])
	case 3:
		a, b := at(), at()
		for i := range page {
			raw[a+i], raw[b+i] = raw[b+i], raw[a+i]
		}
	case 4:
		raw = raw[:r.IntN(len(raw))]
	case 5:
		raw[at()+r.IntN(64)] = byte(r.Uint32())
	}
	return raw
}

// TestMutants verifies, crawls and exports damaged state files, in child processes
// that count as dead if they end by a signal or a panic, and as hanging after two
// minutes with one file.
func TestMutants(t *testing.T) {
	t.Parallel()
	if os.Getenv(envMutants) != "" {
		sufferMutants(t)
		return
	}
	mutants := 100
	switch {
	case crawltest.Full():
		mutants = 1000
	case testing.Short():
		mutants = 20
	}
	seed := crawltest.Seed(t)
	cfg, _ := rippletest.CrawledFor(t, seed, 500*time.Millisecond)
	dir := filepath.Dir(cfg)
	deaths, lines := 0, ""
	const some = 250 // per child: leaks caused by damage end with it
	for next := 0; next < mutants && deaths < 20; {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMutants$", "-test.timeout=60m")
		todo := fmt.Sprintf("%s=%s %d %d %d", envMutants, dir, seed, next, min(mutants, next+some))
		cmd.Env = append(os.Environ(), todo)
		out, err := cmd.CombinedOutput()
		begun, _ := os.ReadFile(filepath.Join(dir, "begun"))
		last, _ := strconv.Atoi(string(begun))
		next = last + 1
		if err != nil {
			deaths++
			t.Errorf("seed %d: mutant %d: %v\n%.4000s", seed, last, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "mutants ") {
				lines += "\n" + strings.TrimSpace(line)
			}
		}
	}
	t.Logf("seed %d: %d mutants, %d deaths or hangs; %s", seed, mutants, deaths, lines)
}

func sufferMutants(t *testing.T) {
	var dir string
	var seed uint64
	var first, end int
	if _, err := fmt.Sscan(os.Getenv(envMutants), &dir, &seed, &first, &end); err != nil {
		t.Fatal(err)
	}
	raw := used(t, filepath.Join(dir, "state.bolt"))
	cfg, _, err := config.Load(filepath.Join(dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	found, walked, exported := 0, 0, 0
	for i := first; i < end; i++ {
		if err := os.WriteFile(filepath.Join(dir, "begun"), []byte(strconv.Itoa(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		hang := time.AfterFunc(2*time.Minute, func() { panic(fmt.Sprintf("mutant %d hangs", i)) })
		path := filepath.Join(dir, "mutant")
		if err := os.WriteFile(path, mutate(rand.New(rand.NewPCG(seed, uint64(i))), raw), 0o600); err != nil {
			t.Fatal(err)
		}
		var report bytes.Buffer
		if err := statefile.CheckFile(&report, path, true); err != nil {
			t.Errorf("mutant %d: check: %v", i, err)
		}
		if strings.Contains(report.String(), "Problem") || strings.Contains(report.String(), "Refused") {
			found++
		}
		if crawlMutant(path, cfg, time.Duration(20+130*(i%5/4))*time.Millisecond) == nil {
			walked++
		}
		if exportMutant(path, filepath.Join(dir, "mutant.db")) == nil {
			exported++
		}
		hang.Stop()
	}
	if found == 0 || walked == 0 || exported == 0 {
		t.Errorf("mutants from %d on: nothing was found, or nothing survived", first)
	}
	fmt.Printf("mutants from %d on: damage found in %d, %d crawled, %d exported\n", first, found, walked, exported)
}

// used returns the bytes of a state file up to the last page ever written.
func used(t testing.TB, path string) []byte {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	err = db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil })
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw[:size]
}

// crawlMutant crawls a damaged state for a moment: the next run begins, or the present one is
// resumed.
func crawlMutant(path string, cfg *config.Config, limit time.Duration) error {
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	log := slog.New(slog.DiscardHandler)
	c, _, err := crawl.Begin(ctx, store, crawl.Options{Config: cfg, Log: log})
	if err != nil {
		return err
	}
	_, err = c.Run(ctx)
	return err
}

func exportMutant(path, to string) error {
	defer os.RemoveAll(to)
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := survey.New(store)
	if err != nil {
		return err
	}
	opts := output.Options{Force: true, Graph: output.NewGraphOptions()}
	for _, f := range output.Formats() {
		if one := f.Write(context.Background(), to, s, opts); !errors.Is(one, output.ErrNoPages) {
			err = errors.Join(err, one)
		}
		os.RemoveAll(to)
	}
	return err
}

// TestEveryFlipIsFound flips a bit in each of many values of a real crawl: the check must report
// every one.
func TestEveryFlipIsFound(t *testing.T) {
	t.Parallel()
	flips := 150
	if crawltest.Full() {
		flips = 1000
	}
	seed := crawltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	state := filepath.Join(filepath.Dir(rippletest.Crawled(t, seed)), "state.bolt")
	raw := used(t, state)
	records := recordsOf(t, state)
	path := filepath.Join(t.TempDir(), "state.bolt")
	missed := 0
	for range flips {
		rec := records[r.IntN(len(records))]
		value := bytes.Clone(rec.value)
		value[r.IntN(len(value))] ^= 1 << r.IntN(8)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(rec.bucket).Put(rec.key, value) })
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		found := false
		if err := kv.Check(path, func(string) { found = true }); err == nil && !found {
			missed++
			t.Errorf("%s %x: a flipped bit was not found", rec.bucket, rec.key)
		}
	}
	t.Logf("seed %d: %d flips in %d records, %d missed", seed, flips, len(records), missed)
}
