//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// TestCheckLeavesNothing ends a check by a signal: its temporary folder is removed.
func TestCheckLeavesNothing(t *testing.T) {
	t.Parallel()
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	linksWeb(web)
	dir := t.TempDir()
	if _, err := web.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, []byte(rippletest.SmallConfig(web.Addr(), true, nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		end  os.Signal
		code int
	}{{"SIGINT", os.Interrupt, 130}, {"SIGTERM", syscall.SIGTERM, 143}} {
		temp := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "check", "--config", config, "https://a.test/")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp, "RIPPLE_TEST_MAIN=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begun := func() bool {
			found, _ := filepath.Glob(filepath.Join(temp, ".ripple-new-*", "check.bolt"))
			return len(found) > 0
		}
		for until := time.Now().Add(time.Minute); !begun() && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := cmd.Process.Signal(tt.end); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code says how it ended
		left, _ := filepath.Glob(filepath.Join(temp, ".ripple-new-*"))
		if code := cmd.ProcessState.ExitCode(); code != tt.code || len(left) > 0 || strings.Contains(stderr.String(), "panic") {
			t.Errorf("%s: exit code %d, %d folders are left\n%s", tt.name, code, len(left), stderr.String())
		}
	}
}

// A check that is killed again and again, and started again each time, reports the same as one that is not.
func TestCheckIsKilled(t *testing.T) {
	t.Parallel()
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	fragmentsWeb(web)
	dir := t.TempDir()
	if _, err := web.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, []byte(rippletest.SmallConfig(web.Addr(), false, nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(state string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
		cmd = ripple("check", "--config", config, "--json", "--state", filepath.Join(dir, state), "https://a.test/0")
		stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = stdout, stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, stdout, stderr
	}
	cmd, want, wantSaid := check("whole.bolt")
	_ = cmd.Wait()
	wantCode := cmd.ProcessState.ExitCode()
	if got := want.String(); !strings.Contains(got, "a.test/missing") || !strings.Contains(got, "a.test/3#here") || wantCode != 1 {
		t.Fatalf("without a kill: exit code %d: %s%s", wantCode, want, wantSaid)
	}
	anchors := filepath.Join(dir, "killed.bolt.anchors")
	for _, most := range []int{5, 15, 30} {
		cmd, _, said := check("killed.bolt")
		if !rippletest.Soon(func() bool { return visitedIn(filepath.Join(dir, "killed.bolt")) >= most }) {
			t.Fatalf("it does not get far: %s", said)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	for _, name := range []string{"%s.bolt", "%s.bolt.anchors"} {
		kept, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf(name, "killed")))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf(name, "cut")), kept, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "cut.bolt.anchors"), 1000); err != nil {
		t.Fatal(err)
	}
	cmd, got, said := check("killed.bolt")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != wantCode || got.String() != want.String() {
		t.Errorf("exit code %d: %s%s", code, said, cmp.Diff(want.String(), got.String()))
	}
	_, counts, _ := strings.Cut(wantSaid.String(), "\n")
	if !strings.Contains(said.String(), " visited") || !strings.Contains(said.String(), counts) {
		t.Errorf("it says %q, and without a kill %q", said, wantSaid)
	}
	if _, err := os.Stat(anchors); err == nil {
		t.Error("the anchors are kept after the check")
	}
	cmd, _, said = check("cut.bolt")
	_ = cmd.Wait()
	if !strings.Contains(said.String(), "a power cut took the fragments of their links") {
		t.Errorf("half of the anchors are lost, and it says %q", said)
	}
}

// fragmentsWeb adds a site of 40 pages with fragments of each other, a third of which lead nowhere.
func fragmentsWeb(web *webtest.Server) {
	const pages = 40
	for n := range pages {
		text := link(fmt.Sprint("/", n+1), "Next") + link(fmt.Sprint("/", (n+7)%pages), "Other") + link("/missing", "Missing") +
			link(fmt.Sprint("https://b.test/", n%5), "Away") + link(fmt.Sprint("/", (n+pages-1)%pages, "#here"), "Fragment")
		if n%3 > 0 {
			text += `<p id="here">`
		}
		web.Host("a.test").Page(fmt.Sprint("/", n), text)
	}
	web.Host("b.test").Page("/1", "")
}

// visitedIn returns the number of pages that the run of a state file has visited.
func visitedIn(state string) int {
	out, err := ripple("stats", "--state", state, "--json").Output()
	var stats answer.Stats
	if err == nil {
		err = json.Unmarshal(out, &stats)
	}
	if err != nil {
		return 0
	}
	return stats.Run.Pages
}
