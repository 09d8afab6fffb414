//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
)

// A machine is a process that runs a node, and may be started again.
type machine struct {
	t      *testing.T
	config string
	args   []string
	cmd    *exec.Cmd
	said   *transcript
}

func (m *machine) start() {
	m.t.Helper()
	m.cmd, m.said = ripple(append([]string{"crawl", m.config}, m.args...)...), &transcript{}
	m.cmd.Stdout, m.cmd.Stderr = m.said, m.said
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
}

// end waits for the end, and returns the exit code, or -1 if the process was killed.
func (m *machine) end() int {
	_ = m.cmd.Wait() // the state says why it ended
	return m.cmd.ProcessState.ExitCode()
}

// works waits until one of the machine's shards is being crawled.
func (m *machine) works() {
	m.t.Helper()
	if !rippletest.Soon(func() bool { return strings.Contains(m.said.String(), ": crawling") }) {
		m.t.Fatalf("no shard of %s is crawled: %s", m.config, m.said)
	}
}

// A transcript is the output of a process. It may be read while the process is running.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *transcript) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// newMachines writes the configurations of n machines, which share four shards evenly, and of a
// single one, for a web of 16 hosts with about pages pages each.
func newMachines(t *testing.T, hub string, n, pages int) (all []*machine, alone string) {
	t.Helper()
	web := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(web, 11, pages)
	return machinesFor(t, hub, n, crawltest.Config(t, web, `[crawler]
minimum-time-on-page = 500
[politeness]
max-suspension = "1s"
`+crawltest.SeedsOfSites))
}

// machinesFor is newMachines under another configuration.
func machinesFor(t *testing.T, hub string, n int, text string) (all []*machine, alone string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, more string) string {
		path := filepath.Join(dir, name+".toml")
		if err := os.WriteFile(path, []byte(text+more), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Cleanup(func() {
		for _, m := range all {
			if t.Failed() && m.said != nil {
				t.Logf("%s says: %s", m.config, m.said)
			}
		}
	})
	for i := range n { // no machine may take all shards before another one starts
		name, own := fmt.Sprintf("node%d", i), (4+n-1-i)/n
		all = append(all, &machine{t: t, config: write(name, fmt.Sprintf(
			"[cluster]\nhub = %q\nshards = 4\nmax-shards = %d\nfolder = \"./%s\"\n", hub, own, name))})
	}
	return all, write("alone", fmt.Sprintf("[state]\npath = %q\n", filepath.Join(dir, "alone.bolt")))
}

// Three machines, one of which is killed and started again, and a hub that is lost meanwhile, make
// the map of a single machine.
func TestThreeMachines(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "hub")
	options := hub.Options{Open: true, Fresh: true, Listen: crawltest.Address(t), Store: store, Log: slog.New(slog.DiscardHandler)}
	server, err := hub.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { server.Close() }()
	machines, alone := newMachines(t, server.URL(), 3, 12)
	for _, m := range machines {
		m.start()
	}
	killed := machines[1]
	killed.works()
	killed.signal(syscall.SIGKILL)
	killed.end()
	if err := errors.Join(server.Close(), os.RemoveAll(store)); err != nil {
		t.Fatal(err)
	}
	options.Fresh = false
	if server, err = hub.Start(options); err != nil {
		t.Fatal(err)
	}
	killed.start()
	sameAsAlone(t, alone, machines...)
}

// While the hub is away and nothing is being crawled, the files of a running machine can be read,
// and it can be stopped by the name of one.
func TestReadWhileHubIsAway(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	machines, _ := newMachines(t, server.URL(), 1, 15)
	m := machines[0]
	m.start()
	says := func(what string) bool {
		return rippletest.Soon(func() bool {
			said := m.said.String()
			for shard := range 4 {
				if !strings.Contains(said, fmt.Sprintf("shard %d: %s", shard, what)) {
					return false
				}
			}
			return true
		})
	}
	crawls := says("crawling")
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if !crawls || !says("lost") {
		t.Fatalf("not all shards are crawled, and lost: %s", m.said)
	}
	folder := strings.TrimSuffix(m.config, ".toml")
	file := filepath.Join(folder, "shard-000.bolt")
	for _, args := range [][]string{
		{"stats", "--state", file}, {"verify", "--state", file}, {"merge", folder, "-o", filepath.Join(folder, "map.bolt")},
	} {
		if out, err := whileHeld(args...); err != nil {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
	}
	if out, err := ripple("pause", "--state", file).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "to command it on all machines") {
		t.Errorf("pause: %v: %s", err, out)
	}
	if out, err := ripple("stop", "--state", file).CombinedOutput(); err != nil {
		t.Fatalf("stop: %v: %s", err, out)
	}
	if code := m.end(); code != 0 || !strings.Contains(m.said.String(), "this node has stopped") {
		t.Errorf("after ripple stop: exit code %d: %s", code, m.said)
	}
	m.start() // it has shards, so a hub was there
	if !rippletest.Soon(func() bool {
		return strings.Contains(m.said.String(), ": nothing is requested until one answers at nats://")
	}) {
		t.Errorf("a machine that is started before its hub says: %s", m.said)
	}
	again, err := hub.Start(hub.Options{Open: true, Listen: strings.TrimPrefix(server.URL(), "nats://"), Store: t.TempDir(),
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !says("waiting") {
		t.Errorf("when the hub is there, it says: %s", m.said)
	}
	m.signal(syscall.SIGINT)
	if code := m.end(); code != 130 {
		t.Errorf("exit code %d: %s", code, m.said)
	}
}

// crawledShard returns the file of the first shard that was crawled.
func crawledShard(said string) string {
	before, _, _ := strings.Cut(said, ": crawling")
	return "shard-00" + before[len(before)-1:] + ".bolt"
}

// whileHeld runs a command about a shard, and repeats it if a busy machine has lost the lease
// meanwhile and takes the shard again.
func whileHeld(args ...string) (out string, err error) {
	rippletest.Soon(func() bool {
		var text []byte
		text, err = ripple(args...).CombinedOutput()
		out = string(text)
		return !strings.Contains(out, "is in use by process") && !strings.Contains(out, "no crawl is running")
	})
	return out, err
}

// A machine stops when requested, can be resumed, and answers for its files.
func TestMachineStops(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	machines, _ := newMachines(t, server.URL(), 1, 15)
	m := machines[0]
	m.start()
	m.works()
	m.command("pause") // otherwise the run might be over before it is stopped
	file := filepath.Join(strings.TrimSuffix(m.config, ".toml"), crawledShard(m.said.String()))
	if out, err := whileHeld("stats", "--state", file); err != nil || !strings.Contains(out, "run #1") {
		t.Errorf("stats: %v: %s", err, out)
	}
	out, err := whileHeld("reload", "--state", file)
	if err == nil || !strings.Contains(out, "to command it on all machines") {
		t.Errorf("reload: %v: %s", err, out)
	}
	if out, err := whileHeld("stop", "--state", file); err != nil {
		t.Errorf("stop: %v: %s", err, out)
	}
	if code := m.end(); code != 0 || !strings.Contains(m.said.String(), "this node has stopped") {
		t.Errorf("after ripple stop: exit code %d: %s", code, m.said)
	}
	m.start()
	m.works()
	m.command("resume")
	m.signal(syscall.SIGTERM)
	if code := m.end(); code != 143 {
		t.Errorf("after SIGTERM: exit code %d: %s", code, m.said)
	}
	m.start()
	if code := m.end(); code != 0 || !strings.Contains(m.said.String(), "the run is over on all shards") {
		t.Errorf("at last: exit code %d: %s", code, m.said)
	}
	m.counted()
}

// counted checks that the history of the run has the pages to visit.
func (m *machine) counted() {
	m.t.Helper()
	whole := filepath.Join(m.t.TempDir(), "whole.bolt")
	if out, err := ripple("merge", m.folder(), "-o", whole).CombinedOutput(); err != nil {
		m.t.Fatalf("merge: %v: %s", err, out)
	}
	store, err := kv.Open(whole, kv.Options{ReadOnly: true})
	if err != nil {
		m.t.Fatal(err)
	}
	defer store.Close()
	err = store.View(func(tx *kv.Tx) error {
		h, err := answer.NewHistory(tx, 1)
		if !slices.ContainsFunc(h.Points, func(p answer.HistoryPoint) bool { return p.ToVisit > 0 }) {
			m.t.Errorf("the history has no pages to visit: %+v", h.Points)
		}
		return err
	})
	if err != nil {
		m.t.Error(err)
	}
}

// look asks for the status of the terrain, with a machine's configuration, until it is as wanted.
func (m *machine) look(what string, wanted func(*answer.TerrainStats) bool) {
	m.t.Helper()
	var out []byte
	seen := func() bool {
		var s answer.TerrainStats
		var err error
		out, err = ripple("stats", "--config", m.config, "--json").Output()
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		return err == nil && wanted(&s)
	}
	if !rippletest.Soon(seen) {
		m.t.Fatalf("%s is not to be seen: %s", what, out)
	}
}

// command runs a command on the terrain, and returns its output.
func (m *machine) command(args ...string) string {
	m.t.Helper()
	out, err := ripple(append(args, "--config", m.config)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %v: %s", args, err, out)
	}
	return string(out)
}

// edit changes the configuration of a machine.
func (m *machine) edit(old, now string) {
	m.t.Helper()
	text, err := os.ReadFile(m.config)
	if err == nil {
		err = os.WriteFile(m.config, bytes.Replace(text, []byte(old), []byte(now), 1), 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) signal(s os.Signal) {
	m.t.Helper()
	if err := m.cmd.Process.Signal(s); err != nil {
		m.t.Fatal(err)
	}
}

// allShards reports whether every shard has a state.
func allShards(s *answer.TerrainStats, state string) bool {
	return !slices.ContainsFunc(s.Shards, func(one answer.ShardStats) bool { return one.State != state })
}

// The terrain is seen and commanded as a whole from any machine: it is reported what a dead one
// delays, a pause applies to machines that join during it, and all stop together.
func TestTerrainIsSeen(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	machines, _ := newMachines(t, server.URL(), 2, 60)
	one, two := machines[0], machines[1]
	for command, want := range map[string]string{"stats": "knows no terrain", "summary": "knows no terrain"} {
		out, err := ripple(command, "--config", one.config).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	for _, m := range machines {
		m.start()
	}
	one.look("a crawl of all", func(s *answer.TerrainStats) bool {
		return len(s.Nodes) == 2 && !slices.ContainsFunc(s.Shards, func(one answer.ShardStats) bool {
			return one.Status == nil || one.Status.Pages == 0
		})
	})
	two.signal(syscall.SIGKILL)
	two.end()
	var silent answer.ShardStats
	one.look("who waits for the dead one", func(s *answer.TerrainStats) bool {
		for _, silent = range s.Shards {
			if silent.State != answer.ShardSilent || len(silent.Waiting) == 0 {
				continue
			}
			for _, b := range s.Shards[silent.Waiting[0]].Backlog { // a shard that only requests an errand has nothing to send
				if b.Shard == silent.Shard && b.URLs > 0 && !b.More {
					return true
				}
			}
		}
		return false
	})
	for _, text := range []string{
		fmt.Sprintf("shard %d does not answer: ", silent.Shard), "may be off, cut off or busy", "; not counted: ",
		fmt.Sprintf("shard %d has to tell shard %d of ", silent.Waiting[0], silent.Shard),
	} {
		one.until(false, text, "stats", "--config")
	}
	one.command("pause")
	two.start()
	two.look("a pause of all", func(s *answer.TerrainStats) bool { return s.Paused && allShards(s, "paused") })
	reloadMachines(one, two)
	two.command("resume")
	one.look("that it goes on", func(s *answer.TerrainStats) bool { return !s.Paused && allShards(s, "running") })
	one.command("pause") // otherwise it might reach its end before it is stopped
	one.look("a pause again", func(s *answer.TerrainStats) bool { return allShards(s, "paused") })
	if said := two.command("stop"); strings.Count(said, "is stopping") != 2 {
		t.Errorf("stop says: %s", said)
	}
	for _, m := range machines {
		if code := m.end(); code != 0 || !strings.Contains(m.said.String(), "this node has stopped") {
			t.Errorf("after ripple stop: exit code %d: %s", code, m.said)
		}
	}
	one.look("that nobody is there", func(s *answer.TerrainStats) bool { return s.Silent == len(s.Shards) })
}

// reloadMachines makes two paused machines load another configuration, by a command and by a
// signal, the second one later.
func reloadMachines(one, two *machine) {
	one.t.Helper()
	one.edit("minimum-time-on-page = 500", "minimum-time-on-page = 400")
	if said := two.command("reload"); !strings.Contains(said, "under configuration 1 as before") {
		one.t.Errorf("reload of what has not changed: %s", said)
	}
	one.signal(syscall.SIGHUP)
	two.look("who follows another configuration", func(s *answer.TerrainStats) bool {
		return s.Config == 2 && slices.ContainsFunc(s.Shards, func(one answer.ShardStats) bool { return one.Config == 2 })
	})
	two.until(false, " follows an older configuration until that of ", "stats", "--config")
	two.edit("minimum-time-on-page = 500", "minimum-time-on-page = 400")
	one.look("all under that configuration", func(s *answer.TerrainStats) bool {
		return !slices.ContainsFunc(s.Shards, func(one answer.ShardStats) bool { return one.Config != 2 })
	})
}

// The demonstration with two nodes ends with one map, and leaves nothing behind when the folder is
// used again.
func TestDemoNodes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	out, err := ripple("demo", "--nodes", "2", "--dir", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said := string(out)
	_, digests, _ := strings.Cut(said, "and the map of one machine:\n")
	if d := strings.Fields(digests); len(d) < 2 || len(d[0]) != 64 || d[0] != d[1] {
		t.Errorf("the digests are %q", digests)
	}
	for _, line := range []string{"node-2: is killed, as kill -9 does", "node-2: is started again",
		"node-1: the run is over on all shards"} {
		if !strings.Contains(said, line) {
			t.Errorf("it does not say %q: %s", line, said)
		}
	}
	if strings.Contains(said, "not written by a node") {
		t.Errorf("the nodes are to write what they do not: %s", said)
	}
	if out, err := ripple("demo", "--dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("again: %v: %s", err, out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "node-*")); err != nil || len(left) != 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}
