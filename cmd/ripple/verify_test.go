package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const verifyConfig = `
[crawler]
max-depth = 2
minimum-time-on-page = 100
max-concurrent-pages-open = 16
[user-agent]
crawler-name = "VerifyBot"
[state]
path = "state.bolt"
[output]
database-path = "terrain.db"
[network]
ca-file = %q
connect-to = { "*.test" = %q }
[[quality]]
domain = "h0.gen.test"
seeds = ["https://h0.gen.test/"]
[[quality]]
domain = "h1.gen.test"
seeds = ["https://h1.gen.test/"]
`

// crawled crawls a small web to its end and returns the path of the configuration;
// the state lies beside it.
func crawled(t testing.TB, seed uint64) string {
	t.Helper()
	path, walked := crawledFor(t, seed, 5*time.Minute)
	if !walked {
		t.Fatal("the crawl has not come to its end")
	}
	return path
}

// crawledWhole is crawled, with a run that is completed as its outputs are in place.
func crawledWhole(t testing.TB, seed uint64) string {
	t.Helper()
	path := crawled(t, seed)
	cfg, _, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	store := crawltest.Open(t, cfg.State.Path)
	err = store.Update(func(tx *kv.Tx) error {
		run, err := tx.Runs.At(1)
		run.Status = schema.RunCompleted
		return errors.Join(err, tx.Runs.Put(run))
	})
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// crawledFor is crawled, interrupted after a time. It reports whether that was not needed.
func crawledFor(t testing.TB, seed uint64, limit time.Duration) (path string, walked bool) {
	t.Helper()
	s, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Generate(seed, webtest.GenConfig{Domain: "gen.test", Hosts: 8, Pages: 8, Links: 10, Hrefs: 12, Size: 1500,
		Leave: 0.4, Redirects: 0.1, Dead: 0.05})
	dir := t.TempDir()
	ca, err := s.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, fmt.Appendf(nil, verifyConfig, ca, s.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(cfg.State.Path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	log := slog.New(slog.DiscardHandler)
	c, _, err := crawl.Begin(ctx, store, crawl.Options{Config: cfg, Log: log})
	if err == nil {
		var r crawl.Result
		r, err = c.Run(ctx)
		walked = r.Walked
	}
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	return path, walked
}

// ran runs ripple and returns what it said and its exit code.
func ran(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := ripple(args...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

func TestVerify(t *testing.T) {
	t.Parallel()
	cfg := crawled(t, 11)
	state := filepath.Join(filepath.Dir(cfg), "state.bolt")
	digest := regexp.MustCompile(`(?m)^digest [0-9a-f]{64}$`)

	out, _, code := ran(t, "verify", "--config", cfg, "--digest")
	if before := digest.FindString(out); code != 0 || before == "" || !strings.Contains(out, "is whole") {
		t.Fatalf("verify: %d, %q", code, out)
	}
	size := func() int64 {
		info, err := os.Stat(state)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before, was := digest.FindString(out), size()
	if out, _, code = ran(t, "verify", "--state", state, "--compact"); code != 0 || size() >= was {
		t.Errorf("verify --compact: %d, %q; %d bytes of %d", code, out, size(), was)
	}
	if out, _, _ = ran(t, "verify", "--state", state, "--digest"); digest.FindString(out) != before {
		t.Errorf("compacting changed the map: %q, before: %q", out, before)
	}
	if out, _, code = ran(t, "verify", "--state", state, "--json"); code != 0 {
		t.Errorf("verify --json: %d", code)
	}
	var v command.Verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil ||
		!v.Whole || v.URLs < 50 || v.Run != 1 || v.Problems == nil {
		t.Errorf("verify --json: %v, %+v", err, v)
	}
}

// TestVerifyNamesDamage changes one record at a time in a way that its checksum
// tells, and cuts the file: the answer says where, what can be done, and 1.
func TestVerifyNamesDamage(t *testing.T) {
	t.Parallel()
	cfg := crawled(t, 12)
	state := filepath.Join(filepath.Dir(cfg), "state.bolt")
	whole, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ bucket, want string }{
		{"hosts", "hosts 00000001: wrong checksum"}, {"visits", "visits 0000000000000001: wrong checksum"},
		{"urls", "urls 0000000000000000: wrong checksum"}, {"anchors", "wrong checksum"}, {"configs", "wrong checksum"},
	}
	for _, tt := range tests {
		t.Run(tt.bucket, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.bolt")
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			flipFirst(t, path, tt.bucket)
			out, complaint, code := ran(t, "verify", "--state", path)
			if code != 1 || !strings.Contains(out, tt.want) || !strings.Contains(complaint, "ripple crawl --fresh") {
				t.Errorf("verify: %d\n%s%s", code, out, complaint)
			}
		})
	}
	if err := os.Truncate(state, int64(len(whole)/3)|1); err != nil { // no multiple of a page: what is behind may be free
		t.Fatal(err)
	}
	if out, _, code := ran(t, "verify", "--state", state, "--compact"); code != 1 ||
		!strings.Contains(out, "cut") {
		t.Errorf("verify of a cut file: %d, %q", code, out)
	}
	if left, _ := filepath.Glob(state + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, args := range [][]string{{"verify", "--state", cfg}, {"verify", "x"}, {"verify", "--nothing"}} {
		if _, complaint, code := ran(t, args...); code != 2 || complaint == "" {
			t.Errorf("%v: %d, %q; want 2", args, code, complaint)
		}
	}
}

// flipFirst flips a bit of the first value of a bucket.
func flipFirst(t testing.TB, path, bucket string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		key, value := tx.Bucket([]byte(bucket)).Cursor().First()
		value = bytes.Clone(value)
		value[len(value)/2] ^= 4
		return tx.Bucket([]byte(bucket)).Put(bytes.Clone(key), value)
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestCompactBesideAnother compacts a file in two processes at a time: neither takes the file that
// the other one is writing.
func TestCompactBesideAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(crawled(t, 1)), "state.bolt")
	for range 5 {
		var both errgroup.Group
		for range 2 {
			both.Go(func() error {
				_, _, err := command.Compact(path)
				if err != nil && strings.HasSuffix(err.Error(), ": another command has just compacted it; nothing was done") {
					return nil
				}
				return err
			})
		}
		if err := both.Wait(); err != nil {
			t.Fatal(err)
		}
		if out, _, code := ran(t, "verify", "--state", path); code != 0 {
			t.Fatal(out)
		}
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range beside {
		if strings.HasPrefix(e.Name(), ".ripple") || statefile.IsBeside(e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// What takes the place of a state file finds out that another command was faster. Only a file that is none is the reason
// to restore a backup.
func TestTakePlace(t *testing.T) {
	t.Parallel()
	good := filepath.Join(filepath.Dir(crawled(t, 1)), "state.bolt")
	for name, tt := range map[string]struct{ replace, want string }{
		"a state file": {good, "another command has just compacted it; nothing was done"},
		"another file": {"verify_test.go", "put the file back"},
		"none":         {"", "put the file back"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, next := filepath.Join(dir, "s.bolt"), filepath.Join(dir, "next")
			copied(t, good, path)
			copied(t, good, next)
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			old, err := kv.Open(path, kv.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
			if tt.replace != "" {
				copied(t, tt.replace, path)
			}
			if got := term.Complaint(command.TakePlace(old, before, next)); !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A check that has found damage tells of it, however long it has then waited for the disk.
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
		v := &command.Verdict{Found: len(tt.found), Problems: tt.found}
		err := v.Late(10*time.Second, tt.worked)
		if got := strings.Join(v.Problems, "; "); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("found %q, worked %v: %q, %v", tt.found, tt.worked, got, err)
		}
	}
}
