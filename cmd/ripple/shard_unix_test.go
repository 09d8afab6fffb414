//go:build !windows

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// shardMachines returns two machines that crawl a terrain, each of which has visited something.
// They are paused, since otherwise the run might be over too early for a test.
func shardMachines(t *testing.T) (one, two *machine, alone string) {
	t.Helper()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	machines, alone := newMachines(t, server.URL(), 2, 20)
	one, two = machines[0], machines[1]
	one.start()
	two.start()
	one.look("a crawl of all", func(s *answer.TerrainStats) bool { return s.Silent == 0 && s.Pages > 10 })
	one.command("pause")
	return one, two, alone
}

func (m *machine) folder() string { return strings.TrimSuffix(m.config, ".toml") }

// first returns the shard of the first file that a machine has, and that file.
func (m *machine) first() (n int, path string) {
	m.t.Helper()
	files, err := filepath.Glob(filepath.Join(m.folder(), "shard-*.bolt"))
	if err != nil || len(files) == 0 {
		m.t.Fatalf("there is no file in %s: %v", m.folder(), err)
	}
	if _, err := fmt.Sscanf(filepath.Base(files[0]), "shard-%03d.bolt", &n); err != nil {
		m.t.Fatal(err)
	}
	return n, files[0]
}

// until repeats a command on the terrain until it ends as wanted with a message: a busy machine
// that loses something for a moment may prevent that at first. Every other end is an error.
func (m *machine) until(fails bool, want string, args ...string) {
	m.t.Helper()
	var out []byte
	said, wrong := false, false
	rippletest.Soon(func() bool {
		var err error
		out, err = ripple(append(args, m.config)...).CombinedOutput()
		said = strings.Contains(string(out), want) && (err != nil) == fails
		wrong = !said && fails && err == nil
		return said || wrong
	})
	if !said {
		m.t.Fatalf("%s: it does not say %q: %s", args, want, out)
	}
}

// sameAsAlone waits for the end of the run, and compares the map with that of one machine.
func sameAsAlone(t *testing.T, alone string, machines ...*machine) {
	t.Helper()
	dir := filepath.Dir(alone)
	args := []string{"merge", "-o", filepath.Join(dir, "whole.bolt")}
	for _, m := range machines {
		if code := m.end(); code != 0 || !strings.Contains(m.said.String(), "the run is over on all shards") {
			t.Fatalf("exit code %d: %s", code, m.said)
		}
		args = append(args, m.folder())
	}
	for _, args := range [][]string{args, {"crawl", alone}} {
		if out, err := ripple(args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, out)
		}
	}
	got, want := crawltest.Digest(t, filepath.Join(dir, "whole.bolt")),
		crawltest.Digest(t, filepath.Join(dir, "alone.bolt"))
	if got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// says waits until a machine has printed a text.
func (m *machine) says(text string) {
	m.t.Helper()
	if !rippletest.Soon(func() bool { return strings.Contains(m.said.String(), text) }) {
		m.t.Fatalf("it does not say %q: %s", text, m.said)
	}
}

// A shard is moved to another machine while both are running, and the map is that of one machine.
func TestShardMoves(t *testing.T) {
	t.Parallel()
	one, two, alone := shardMachines(t)
	n, path := one.first()
	name := fmt.Sprint(n)
	two.until(true, "is not the number of a shard", "shard", "release", "one")
	two.until(true, "there is no such shard: they are 0 to 3", "shard", "release", "4")
	two.until(false, "move "+term.Shown(path)+" into the", "shard", "release", name)
	two.until(false, "nobody has it; its file shard-00"+name+".bolt on ", "shard", "release", name)
	if err := os.Rename(path, filepath.Join(two.folder(), filepath.Base(path))); err != nil {
		t.Fatal(err)
	}
	two.command("resume")
	two.says("shard " + name + ": crawling")
	sameAsAlone(t, alone, one, two)
	if !strings.Contains(one.said.String(), "shard "+name+": released") {
		t.Errorf("the machine that had it says: %s", one.said)
	}
}

// A shard whose file is gone is created again by a machine that is killed at each step, and the map
// is that of one machine. The old file is refused.
func TestShardIsRecreated(t *testing.T) {
	t.Parallel()
	one, two, alone := shardMachines(t)
	n, path := two.first()
	name := fmt.Sprint(n)
	one.until(true, "a shard that somebody has is moved", "shard", "recreate", name)
	two.until(true, "is here: ", "shard", "recreate", name)
	two.signal(syscall.SIGKILL)
	two.end()
	old := filepath.Join(t.TempDir(), "old.bolt")
	if err := os.Rename(path, old); err != nil {
		t.Fatal(err)
	}
	one.until(true, "first start the machines that have them", "shard", "recreate", name)
	one.until(false, "; if it is off, its file shard-00"+name+".bolt may be moved as it is", "shard", "release", name)
	two.start()
	two.says("shard " + name + ": gone")
	two.look("all others", func(s *answer.TerrainStats) bool { return s.Silent == 1 })
	one.until(false, "its sites are visited again", "shard", "recreate", name)
	one.command("resume")
	for _, state := range []string{"waiting", "held", "crawling"} {
		one.says("shard " + name + ": " + state)
		one.signal(syscall.SIGKILL)
		one.end()
		one.start()
	}
	sameAsAlone(t, alone, one, two)
	others, err := filepath.Glob(filepath.Join(filepath.Dir(path), "shard-*.bolt"))
	// The machine ends only if it has no good file. With one it would warn and crawl that one.
	for _, other := range others {
		err = errors.Join(err, os.Remove(other))
	}
	if err := errors.Join(err, os.Rename(old, path)); err != nil {
		t.Fatal(err)
	}
	two.until(true, "the shard has been recreated since; it holds nothing that the terrain waits for: move it away",
		"crawl")
}

// A run that lacks the shards of a killed machine is ended without them, on all others. Their files
// give one map, and when the machine is back the run continues.
func TestStopWithoutMachine(t *testing.T) {
	t.Parallel()
	one, two, alone := shardMachines(t)
	files, err := filepath.Glob(filepath.Join(two.folder(), "shard-*.bolt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	var lost []string
	for _, path := range files {
		lost = append(lost, strings.TrimSuffix(filepath.Base(path), ".bolt")[len("shard-00"):])
	}
	without := strings.Join(lost, ",")
	one.without("4", "there is no such shard: they are 0 to 3")
	one.without("0-3", "stop that node first, or leave the shard in")
	one.without(without, "stop that node first, or leave the shard in")
	two.signal(syscall.SIGKILL)
	two.end()
	one.command("resume")
	one.without(without, "is interrupted without shard")
	if code := one.end(); code != 0 || !strings.Contains(one.said.String(), "has ended the run without shard") {
		t.Fatalf("exit code %d: %s", code, one.said)
	}
	one.without(without, "no node has a shard just now, so none was stopped")
	said := one.command("stats")
	for _, want := range []string{", interrupted without shard", "on all machines resumes the run, with shard"} {
		if !strings.Contains(said, want) || strings.Contains(said, "waits for") {
			t.Errorf("stats does not say %q, or who waits: %s", want, said)
		}
	}
	partial := filepath.Join(t.TempDir(), "partial.bolt")
	for _, args := range [][]string{
		{"merge", one.folder(), "-o", partial, "--without", without},
		{"verify", "--state", partial}, {"stats", "--state", partial},
	} {
		out, err := ripple(args...).CombinedOutput()
		if err != nil || args[0] == "stats" && !strings.Contains(string(out), "without shard") {
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
	one.start()
	two.start()
	sameAsAlone(t, alone, one, two)
}

// without ends the run without some shards from a machine, and repeats that until it gets the
// wanted answer.
func (m *machine) without(shards, want string) {
	m.t.Helper()
	var out []byte
	said := false
	rippletest.Soon(func() bool {
		out, _ = ripple("stop", "--without", shards, "--config", m.config).CombinedOutput()
		said = strings.Contains(string(out), want)
		return said || !strings.Contains(string(out), "no answer from") // a busy machine may print that
	})
	if !said {
		m.t.Fatalf("--without %s: it does not say %q: %s", shards, want, out)
	}
}
