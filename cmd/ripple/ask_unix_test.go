//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
)

// asker writes the configuration of a machine that has no shards.
func (m *machine) asker() string {
	m.t.Helper()
	path := filepath.Join(filepath.Dir(m.config), "asker.toml")
	text, err := os.ReadFile(m.config)
	if err == nil {
		text = bytes.Replace(text, []byte(`folder = "./`+filepath.Base(m.folder())), []byte(`folder = "./none`), 1)
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return path
}

// questions returns commands that ask about a map in every way: about all pages at once, and about some of each shard.
func questions(t *testing.T, whole string) (all [][]string) {
	t.Helper()
	out, err := ripple("query", "--state", whole, "--json",
		"SELECT DISTINCT url FROM pages JOIN page_depths ON page_id = pages.id ORDER BY url").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pages []struct{ URL string }
	if err := json.Unmarshal(out, &pages); err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	inspected := []string{"inspect", "--json", "h0.test", "h5.test"}
	for i := 0; i < len(pages); i += len(pages) / 20 {
		inspected = append(inspected, pages[i].URL)
		all = append(all, []string{"path", "--json", pages[i].URL})
	}
	for _, table := range []string{"pages", "page_depths", "links", "hosts", "redirects", "frontier"} {
		all = append(all, []string{"query", "--csv", "SELECT * FROM " + table})
	}
	return append(all, inspected, []string{"broken", "--json"}, []string{"suggest", "--json"})
}

// answers returns the output of a command.
func answers(t *testing.T, args ...string) string {
	t.Helper()
	var said bytes.Buffer
	cmd := ripple(args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code > 1 || err != nil && said.Len() > 0 {
		t.Fatalf("%q: %v: %s", args, err, said.String())
	}
	return string(out)
}

// Any machine of a terrain answers as one that has merged all its shards, also a machine without any, and says which
// shards are missing.
func TestAskMachines(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	machines, _ := newMachines(t, server.URL(), 3, 12)
	for _, m := range machines {
		m.start()
	}
	one, killed := machines[0], machines[2]
	one.look("a crawl of all", func(s *answer.TerrainStats) bool { return s.Silent == 0 && s.Pages > 60 })
	one.command("pause")
	one.look("a pause of all", func(s *answer.TerrainStats) bool {
		changes := func(one answer.ShardStats) bool {
			return one.Status == nil || one.Status.Fetching > 0 || len(one.Backlog) > 0
		}
		return s.Paused && allShards(s, "paused") && !slices.ContainsFunc(s.Shards, changes)
	})
	whole := filepath.Join(t.TempDir(), "whole.bolt")
	merge := []string{"merge", "-o", whole}
	for _, m := range machines {
		merge = append(merge, m.folder())
	}
	if out, err := whileHeld(merge...); err != nil {
		t.Fatalf("merge: %v: %s", err, out)
	}
	asker := one.asker()
	for i, args := range questions(t, whole) {
		config := append([]string{asker}, one.config, killed.config)[i%3]
		got, want := answers(t, append(args, "--config", config)...), answers(t, append(args, "--state", whole)...)
		if got != want || got == "" {
			t.Errorf("%q: %s", args, cmp.Diff(want, got))
		}
	}
	if left, err := filepath.Glob(filepath.Join(one.folder(), "*.copy")); err != nil || left != nil {
		t.Errorf("left: %q, %v", left, err)
	}
	sameVisits(t, asker, whole)
	killed.signal(syscall.SIGKILL)
	killed.end()
	args := []string{"path", "--json", "https://h0.test/"}
	want := answers(t, append(args, "--state", whole)...)
	args = append(args, "--config")
	if got := answers(t, append(args, killed.config)...); got != want { // its own file is here
		t.Errorf("with an own file that nobody holds: %s", got)
	}
	said := without(t, append(args, asker)...)
	n, _ := killed.first()
	if !strings.Contains(said, fmt.Sprintf("there is no answer without shard %d of 4: shard %d: ", n, n)) ||
		!strings.Contains(said, killed.folder()+" does not answer; start ") {
		t.Errorf("without shard %d: %s", n, said)
	}
	unusable := filepath.Join(filepath.Dir(asker), "none", fmt.Sprintf("shard-%03d.bolt", n))
	if err := errors.Join(os.MkdirAll(filepath.Dir(unusable), 0o700), os.WriteFile(unusable, []byte("?"), 0o600)); err != nil {
		t.Fatal(err)
	}
	said = without(t, append(args, asker)...)
	if !strings.Contains(said, killed.folder()+" does not answer; its file here cannot be used: ") ||
		!strings.Contains(said, unusable) {
		t.Errorf("without shard %d and with an unusable file of it: %s", n, said)
	}
	if err := os.Remove(unusable); err != nil {
		t.Fatal(err)
	}
	for _, m := range machines[:2] {
		m.signal(syscall.SIGTERM)
		if code := m.end(); code != 143 {
			t.Errorf("exit code %d: %s", code, m.said)
		}
	}
	if said := without(t, append(args, asker)...); !strings.Contains(said, "without shards 0-3 of 4: ") ||
		!strings.Contains(said, "no machine has its file open; ") {
		t.Errorf("without all: %s", said)
	}
	for _, m := range machines {
		served := ripple("serve", "--listen", "127.0.0.1:0", "--config", m.config)
		if err := served.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = served.Process.Signal(syscall.SIGTERM)
			_ = served.Wait() // by the signal
		}()
	}
	var out []byte
	answered := rippletest.Soon(func() bool { out, err = ripple(append(args, asker)...).Output(); return err == nil })
	if !answered || string(out) != want {
		t.Errorf("of machines that only serve: %v: %s", err, out)
	}
}

// sameVisits compares the visits of a terrain with those of its merged map, apart from their cursors.
func sameVisits(t *testing.T, config, whole string) {
	t.Helper()
	lines := func(args ...string) []string {
		return slices.Collect(strings.Lines(answers(t, append([]string{"feed"}, args...)...)))
	}
	plain := func(lines []string) (all []string) {
		for _, line := range lines {
			_, rest, _ := strings.Cut(line, `,"run":`)
			all = append(all, rest)
		}
		return all
	}
	got, want := lines("--config", config), lines("--state", whole)
	if diff := cmp.Diff(plain(want), plain(got)); diff != "" || len(got) < 40 {
		t.Errorf("the visits differ: %s", diff)
	}
	half := len(got) / 2
	var last struct{ Cursor string }
	if err := json.Unmarshal([]byte(got[half-1]), &last); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got[half:], lines("--config", config, "--since", last.Cursor)); diff != "" {
		t.Errorf("after %s: %s", last.Cursor, diff)
	}
	for _, wrong := range [][]string{{"--follow"}, {"--since", "1,2"}, {"--since", "99999,0,0,0"}} {
		cmd := ripple(append([]string{"feed", "--config", config}, wrong...)...)
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// without returns what a command says that must fail without an answer.
func without(t *testing.T, args ...string) (said string) {
	t.Helper()
	var text bytes.Buffer
	cmd := ripple(args...)
	cmd.Stderr = &text
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 1 || len(out) > 0 {
		t.Errorf("exit code %d and the answer %s", code, out)
	}
	return text.String()
}
