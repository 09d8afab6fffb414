package proof

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// The machines of TestTakeOverWhileCut, by what happens to them while their wires to the web are cut.
const (
	suspendedOne = iota // it is stopped
	killedOne
	hublessOne // it also loses the hub
	harmed     // how many are; the next machine takes their shards
)

// A cutWeb is a web with machines in networks of their own. Their wires to it can be cut while the hub stays in reach.
type cutWeb struct {
	*twoNetworks
	*machines
	homes []*os.File // the machines' networks
}

// newCutWeb puts each machine that is harmed on a branch.
func newCutWeb(t *testing.T, seed uint64, text string) *cutWeb {
	t.Helper()
	c := &cutWeb{twoNetworks: newTwoNetworks(t)}
	web := crawltest.Serve(t, webtest.WithListener(c.listen(served+".1:0")))
	crawltest.Sites(web, seed, 20)
	c.machines = newMachines(t, rand.New(rand.NewPCG(seed, 6)), web, text, harmed+1, harmed+1)
	c.faster = "1"
	for i := range harmed {
		c.homes = append(c.homes, c.branch(i))
	}
	c.homes = append(c.homes, c.crawler)
	for i, m := range c.all {
		m.place = func(start func() error) error { return within(c.homes[i], start) }
		text, err := os.ReadFile(m.config)
		if err != nil {
			t.Fatal(err)
		}
		hub := m.wire.Addr()
		m.wire = crawltest.NewWireAt(t, c.listenIn(c.homes[i], "127.0.0.1:0"), hub)
		text = bytes.ReplaceAll(text, []byte(hub), []byte(m.wire.Addr()))
		if err := os.WriteFile(m.config, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// unsent returns the number of connections to the web, of the i-th machine, with data that the web has not acknowledged.
func (c *cutWeb) unsent(i int) (n int) {
	c.machines.t.Helper()
	var text []byte
	err := within(c.homes[i], func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/tcp")
		return err
	})
	if err != nil {
		c.machines.t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		// proc(5): the number, local and remote address, state, and the queues of what is to be sent and to be read
		f := strings.Fields(s.Text())
		if len(f) > 4 && strings.HasPrefix(f[2], "01004D0A:") && !strings.HasPrefix(f[4], "00000000:") {
			n++
		}
	}
	return n
}

// until waits for a condition.
func (c *cutWeb) until(what string, happened func() bool) {
	c.machines.t.Helper()
	for began := time.Now(); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			c.machines.t.Fatalf("no %s after %v", what, patience)
		}
	}
}

// harm stops a machine, and copies the file of its shard, whose number it returns, into another machine's folder. Then
// it kills the machine, cuts it off from the hub, or leaves it stopped.
func (c *cutWeb) harm(i int, folder string) (shard int, err error) {
	m := c.all[i]
	if err := m.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	shards := m.shards()
	if len(shards) != 1 {
		return 0, fmt.Errorf("%s has shards %v, want one", m.folder, shards)
	}
	file := m.file(shards[0])
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o600)
	}
	switch {
	case err != nil:
	case i == killedOne:
		err = c.kill(m)
	case i == hublessOne:
		m.wire.Silence()
		err = m.cmd.Process.Signal(syscall.SIGCONT)
	}
	return shards[0], err
}

// takenWhileCut cuts the wires, does the harm while requests are written to them, and makes the last machine take the
// shards. Then it connects the wires again. It returns which shards were taken.
func (c *cutWeb) takenWhileCut() (taken map[int]bool) {
	t, taker := c.machines.t, c.all[harmed]
	c.connect(harmed, "down")
	for i := range harmed {
		c.until("request without acknowledgement", func() bool { return c.unsent(i) > 0 })
	}
	if err := c.kill(taker); err != nil { // it finds the files when it starts
		t.Fatal(err)
	}
	taken = map[int]bool{}
	for i := range harmed {
		shard, err := c.harm(i, taker.folder)
		if err != nil {
			t.Fatal(err)
		}
		taken[shard] = true
	}
	err := c.start(taker)
	for shard := range taken {
		if err == nil {
			err = taker.says(fmt.Sprintf("shard %d: crawling", shard))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	c.connect(harmed, "up")
	time.Sleep(2 * time.Second) // without a link, Linux tries to send again every half second
	return taken
}

// TestTakeOverWhileCut cuts the wires between machines and the web while requests are written to them, and makes
// another machine take their shards, with real leases. When the wires are connected again, no request that a former
// owner wrote arrives. No gap is shorter than promised, and the map is that of one crawl.
func TestTakeOverWhileCut(t *testing.T) {
	if !crawltest.Full() {
		t.Skip("takes a minute: RIPPLE_PROOF=full")
	}
	t.Parallel()
	const gap = 300 * time.Millisecond
	seed := crawltest.Seed(t)
	text := fmt.Sprintf(machinesConfig, gap.Milliseconds(), "")
	c := newCutWeb(t, seed, text)
	near := crawltest.Serve(t)
	crawltest.Sites(near, seed, 20)
	want := alone(t, crawltest.Parse(t, crawltest.Config(t, near, text)))
	for _, m := range c.all {
		if err := c.start(m); err != nil {
			t.Fatal(err)
		}
	}
	c.until("requests", func() bool { return len(c.web.Log()) > 60 })
	cut := time.Now()
	taken := c.takenWhileCut()
	c.all[hublessOne].wire.Cut(false)
	if err := c.all[suspendedOne].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{suspendedOne, hublessOne} {
		m := c.all[i]
		if err := m.end(); err == nil || !strings.Contains(err.Error(), m.file(m.shards()[0])) {
			t.Errorf("%s, whose shard was taken, ends with %v", m.folder, err)
		}
	}
	taker := c.all[harmed]
	if err := taker.end(); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, n := range taker.shards() {
		files = append(files, taker.file(n))
	}
	if got := crawltest.Merge(t, filepath.Join(t.TempDir(), "merged.bolt"), files); got != want {
		t.Errorf("seed %d: digest %s, want %s", seed, got, want)
	}
	for _, e := range c.web.Log() {
		if taken[c.rule.Of(e.Host)] && e.Opened.Before(cut) && e.Arrived.After(cut.Add(crawltest.Timing(1).Trust)) {
			t.Errorf("seed %d: https://%s%s arrives %v after the cut, from the former owner", seed, e.Host, e.Path,
				e.Arrived.Sub(cut))
		}
	}
	t.Logf("%d shards were taken; %d requests", len(taken), c.polite(gap))
}
