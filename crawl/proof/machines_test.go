//go:build linux || darwin

package proof

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A machine is a process that runs a node, and is started again whenever it was killed.
type machine struct {
	config string // path
	folder string // of its shards' files
	said   string // path of its output
	wire   *crawltest.Wire
	place  func(start func() error) error // starts it in a network of its own; nil: it shares that of the test

	sync.Mutex // held while the machine is being harmed
	cmd        *exec.Cmd
	ended      chan struct{} // closed when cmd has ended, with err set
	err        error
}

// start starts the node.
func (m *machine) start(env ...string) error {
	said, err := os.Create(m.said)
	if err != nil {
		return err
	}
	defer said.Close()
	m.cmd, m.ended = child(m.config, env...), make(chan struct{})
	m.cmd.Stdout, m.cmd.Stderr = said, said
	begin := m.cmd.Start
	if m.place != nil {
		begin = func() error { return m.place(m.cmd.Start) }
	}
	if err := begin(); err != nil {
		close(m.ended)
		return err
	}
	go func() { m.err = m.cmd.Wait(); close(m.ended) }()
	return nil
}

// end waits for the end of the node, and returns its error, in its own words.
func (m *machine) end() error {
	select {
	case <-m.ended:
		if m.err != nil {
			return fmt.Errorf("%s: %w: %s", m.folder, m.err, m.words())
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s does not end with shards %v: %s", m.folder, m.shards(), m.words())
	}
}

func (m *machine) words() string {
	text, err := os.ReadFile(m.said)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// says waits until the node has printed one of some lines since it was started.
func (m *machine) says(lines ...string) error {
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		text := m.words()
		for _, line := range lines {
			if strings.Contains(text, line+"\n") {
				return nil
			}
		}
		select {
		case <-m.ended:
			return fmt.Errorf("%s ends with %v: %s", m.folder, m.err, text)
		default:
		}
	}
	return fmt.Errorf("%s does not say %q: %s", m.folder, lines, m.words())
}

// shards returns the numbers of the shards whose files the machine has.
func (m *machine) shards() (all []int) {
	files, _ := filepath.Glob(filepath.Join(m.folder, "shard-???.bolt")) // the pattern is well formed
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(f), "shard-%03d.bolt", &n); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func (m *machine) file(shard int) string {
	return filepath.Join(m.folder, fmt.Sprintf("shard-%03d.bolt", shard))
}

// machines are a hub and several nodes as processes, each with a connection to the hub that can be
// cut, and a web.
type machines struct {
	t      *testing.T
	web    *webtest.Server
	rule   *shard.Rule
	faster string // how many times faster than real leases these are
	all    []*machine
	store  string       // of the hub
	places sync.RWMutex // guards the places of the shards' files while they move

	hub struct {
		sync.Mutex
		cmd *exec.Cmd
	}

	moved  atomic.Int32 // shards, by command
	mu     sync.Mutex
	r      *rand.Rand
	killed []death
	harmed []string // harm done so far, with times
}

// newMachines writes the configurations of a number of machines for a web, and starts the hub.
func newMachines(t *testing.T, r *rand.Rand, web *webtest.Server, text string, count, shards int) *machines {
	t.Helper()
	rule, err := shard.New(shards)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ms := &machines{t: t, web: web, rule: rule, faster: "30", r: r, store: filepath.Join(dir, "hub")}
	text = crawltest.Config(t, web, text)
	for i := range count {
		name := fmt.Sprintf("node-%d", i)
		m := &machine{
			config: filepath.Join(dir, name+".toml"), folder: filepath.Join(dir, name),
			said: filepath.Join(dir, name+".txt"), wire: crawltest.NewWire(t, ""),
		}
		cluster := fmt.Sprintf("[cluster]\nhub = \"nats://%s\"\nshards = %d\nmax-shards = %d\nfolder = %q\n",
			m.wire.Addr(), shards, (shards+count-1)/count, m.folder)
		if err := errors.Join(os.Mkdir(m.folder, 0o700),
			os.WriteFile(m.config, []byte(text+cluster), 0o600)); err != nil {
			t.Fatal(err)
		}
		ms.all = append(ms.all, m)
	}
	t.Cleanup(ms.close)
	if err := ms.startHub(envUnused + "=1"); err != nil {
		t.Fatal(err)
	}
	return ms
}

// close ends the remaining processes.
func (ms *machines) close() {
	for _, m := range ms.all {
		if m.ended != nil {
			_ = m.cmd.Process.Kill() // fails if it has ended
			<-m.ended
		}
	}
	ms.killHub()
}

func (ms *machines) startHub(env ...string) error {
	cmd := child("", append(env, envHub+"="+ms.store)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	ms.hub.cmd = cmd
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the hub does not start: %w", err)
	}
	for _, m := range ms.all {
		m.wire.Aim(strings.TrimPrefix(strings.TrimSpace(line), "nats://"))
	}
	return nil
}

// killHub kills the hub. Nobody is to find the hub of another test at its address then.
func (ms *machines) killHub() {
	for _, m := range ms.all {
		m.wire.Aim("")
	}
	_ = ms.hub.cmd.Process.Kill()
	_ = ms.hub.cmd.Wait() // killed on purpose
}

func (ms *machines) start(m *machine, env ...string) error {
	return m.start(append(env, envFaster+"="+ms.faster)...)
}

// kill kills a node, and records which hosts it requested.
func (ms *machines) kill(m *machine) error {
	at := ms.dies(m)
	killed := m.cmd.Process.Kill()
	<-m.ended
	if killed != nil && m.err != nil { // a node for which nothing is left to do ends without an error
		return fmt.Errorf("%w: %w: %s", killed, m.err, m.words())
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.killed[at].gone = time.Now()
	return nil
}

// dies records that a node is about to be killed, and returns the index of that record.
func (ms *machines) dies(m *machine) (at int) {
	shards := map[int]bool{}
	for _, n := range m.shards() {
		shards[n] = !ms.gave(m, n)
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	asked := func(host string) bool { return shards[ms.rule.Of(host)] }
	ms.killed = append(ms.killed, death{at: time.Now(), of: asked})
	return len(ms.killed) - 1
}

// below returns a random number.
func (ms *machines) below(n int) int {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.r.IntN(n)
}

// rest waits for a random time.
func (ms *machines) rest(most time.Duration) { time.Sleep(time.Duration(ms.below(int(most)))) }

// note records harm that is being done.
func (ms *machines) note(harm string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.harmed = append(ms.harmed, time.Now().UTC().Format("15:04:05.000 ")+harm)
}

// end waits until the run is over on all machines, and returns the digest of the merged map and the
// path of its file.
func (ms *machines) end() (digest, path string, err error) {
	ms.t.Helper()
	var files []string
	ended := make(chan error, len(ms.all))
	for _, m := range ms.all {
		go func() { ended <- m.end() }()
	}
	for _, m := range ms.all {
		if err := <-ended; err != nil { // the first one that has failed
			return "", "", err
		}
		for _, n := range m.shards() {
			files = append(files, m.file(n))
		}
	}
	path = filepath.Join(filepath.Dir(ms.store), "merged.bolt")
	return crawltest.Merge(ms.t, path, files), path, nil
}

// polite checks by the web's log that no host was requested by two nodes at once, or early.
func (ms *machines) polite(gap time.Duration) (requests int) {
	ms.t.Helper()
	log := heardOf(ms.web.Log(), ms.killed)
	rules := []webtest.Rule{webtest.MinGap(gap, 5*time.Millisecond), webtest.MaxOpen(1, 0),
		webtest.RobotsFirst("/robots.txt")}
	for _, bad := range webtest.CheckLog(log, rules...) {
		ms.t.Error(bad)
	}
	return len(log)
}
