package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
)

// ran runs ripple and returns its output and its exit code.
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
	cfg := rippletest.Crawled(t, 11)
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
	var v statefile.Verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil ||
		!v.Whole || v.URLs < 50 || v.Run != 1 || v.Problems == nil {
		t.Errorf("verify --json: %v, %+v", err, v)
	}
}

// TestVerifyNamesDamage changes one record at a time so that its checksum does not match, and
// truncates the file: the answer says where the damage is and what can be done, and the exit code
// is 1.
func TestVerifyNamesDamage(t *testing.T) {
	t.Parallel()
	cfg := rippletest.Crawled(t, 12)
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
	if err := os.Truncate(state, int64(len(whole)/3)|1); err != nil { // not a multiple of a page: the rest may be free
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
