//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
)

// A terrainWithDesks is a terrain of two machines: the first serves a desk, and the second is dead
// and has a desk of its own.
type terrainWithDesks struct {
	one          *machine
	node, served *testDesk
	addresses    []string
}

// newTerrainWithDesks returns when a shard waits for the dead machine.
func newTerrainWithDesks(t *testing.T) *terrainWithDesks {
	t.Helper()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	machines, _ := newMachines(t, server.URL(), 2, 60)
	one, two := machines[0], machines[1]
	one.args = []string{"--listen", "127.0.0.1:0"}
	one.edit("[cluster]", "[output]\nsummary-path = \"./summary.md\"\n[cluster]")
	for _, m := range machines {
		m.start()
		t.Cleanup(func() { _ = m.cmd.Process.Kill() }) // fails if it has ended
	}
	one.look("a crawl of all", func(s *answer.TerrainStats) bool {
		return len(s.Nodes) == 2 && !slices.ContainsFunc(s.Shards, func(one answer.ShardStats) bool {
			return one.Status == nil || one.Status.Pages == 0
		})
	})
	two.signal(syscall.SIGKILL)
	two.end()
	one.look("who waits for the dead one", func(s *answer.TerrainStats) bool { return len(silentShards(s)) > 0 })
	served := &transcript{}
	serve := ripple("serve", "--config", one.config, "--listen", "127.0.0.1:0")
	serve.Stdout, serve.Stderr = served, served
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill(); _ = serve.Wait() })
	w := &terrainWithDesks{one: one}
	for _, said := range []*transcript{one.said, served} {
		if !rippletest.Soon(func() bool { return deskAddress(said.String()) != "" }) {
			t.Fatalf("it does not say where its desk is: %s", said)
		}
		w.addresses = append(w.addresses, deskAddress(said.String()))
	}
	w.node, w.served = newTestDesk(t, w.addresses[0]), newTestDesk(t, w.addresses[1])
	return w
}

// silentShards returns the shards that others wait for in vain.
func silentShards(s *answer.TerrainStats) (shards []answer.ShardStats) {
	for _, one := range s.Shards {
		if one.State == answer.ShardSilent && len(one.Waiting) > 0 {
			shards = append(shards, one)
		}
	}
	return shards
}

// terrain requests the status of a desk until it is as wanted.
func (d *testDesk) terrain(what string, wanted func(*session.DeskTerrain) bool) *session.DeskTerrain {
	d.t.Helper()
	var text []byte
	var s session.DeskTerrain
	seen := func() bool {
		s = session.DeskTerrain{}
		_, text = d.get("status")
		return json.Unmarshal(text, &s) == nil && s.Stats != nil && wanted(&s)
	}
	if !rippletest.Soon(seen) {
		d.t.Fatalf("%s is not to be seen: %s", what, text)
	}
	return &s
}

// A terrain with a dead machine is visible at the desk of the other machine and at that of a
// machine without shards: which shard is silent since when, and which shards wait, in words, in
// figures and for Prometheus.
func TestTerrainDesk(t *testing.T) {
	t.Parallel()
	w := newTerrainWithDesks(t)
	if said := w.one.said.String(); !strings.Contains(said, "not written by a node: [output] summary-path;") {
		t.Errorf("it is not told what is not written: %s", said)
	}
	for _, d := range []*testDesk{w.node, w.served} {
		s := d.terrain("who waits for the dead one", func(s *session.DeskTerrain) bool { return len(silentShards(s.Stats)) > 0 })
		silent := silentShards(s.Stats)[0]
		if s.Mode != "terrain" || s.Status != "running" || s.Error != "" || s.Seen == nil || silent.Silent == nil {
			t.Errorf("it says %+v", s)
		}
		for _, text := range []string{ // the other one has to send it something, or requests a robots.txt from it
			fmt.Sprintf("^shard %d does not answer: ", silent.Shard),
			fmt.Sprintf("^shard %d (has to tell|asks) shard %d\\b", silent.Waiting[0], silent.Shard),
		} {
			said := func(n answer.TerrainNote) bool { return regexp.MustCompile(text).MatchString(n.Text) && n.Since != nil }
			if !slices.ContainsFunc(s.Notes, said) {
				t.Errorf("it does not say %q: %+v", text, s.Notes)
			}
		}
		for path, want := range map[string]int{
			"terrain": 200, "openapi.json": 200, "hosts": 404, "stats": 404, "graph": 404,
		} {
			if code, text := d.get(path); code != want {
				t.Errorf("%s: %d %.200s", path, code, text)
			}
		}
	}
	w.commands(t)
	w.scraped(t)
	code, text := w.served.send("stop", "{}")
	if code != http.StatusConflict ||
		!strings.Contains(string(text), " is stopping; open requests get 10 s to finish; not ") {
		t.Errorf("stop: %d %s", code, text)
	}
	if code := w.one.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, w.one.said)
	}
	code, text = w.served.send("stop", "{}")
	if code != http.StatusConflict ||
		!strings.Contains(string(text), "{\"error\":\"not stopped, for they do not answer: ") {
		t.Errorf("stop of nobody: %d %s", code, text)
	}
}

// commands leaves the living machine paused.
func (w *terrainWithDesks) commands(t *testing.T) {
	t.Helper()
	for i, d := range []*testDesk{w.served, w.node, w.served} {
		command, status := "pause", "paused"
		if i == 1 {
			command, status = "unpause", "running"
		}
		code, text := d.send(command, "{}")
		if code != http.StatusOK || !strings.Contains(string(text), "run #1 ") {
			t.Errorf("%s: %d %s", command, code, text)
		}
		w.node.terrain(command, func(s *session.DeskTerrain) bool {
			return s.Status == status && !slices.ContainsFunc(s.Stats.Shards, func(one answer.ShardStats) bool {
				return one.Status != nil && one.State != status
			})
		})
	}
	code, text := w.served.send("reload", "{}")
	if code != http.StatusOK || !strings.Contains(string(text), "under configuration 1 ") {
		t.Errorf("reload: %d %s", code, text)
	}
	w.one.edit("[cluster]", "[cluster]\nwrong = true")
	code, text = w.served.send("reload", "{}")
	if code != http.StatusConflict || !strings.Contains(string(text), "wrong") {
		t.Errorf("reload of what is wrong: %d %s", code, text)
	}
	w.one.edit("[cluster]\nwrong = true", "[cluster]")
}

// scraped checks the metrics of a paused terrain, which come to rest when open requests have
// finished. With short leases, a shard may be taken again meanwhile.
func (w *terrainWithDesks) scraped(t *testing.T) {
	t.Helper()
	var wrong []string
	right := func() bool {
		s := w.node.terrain("any", func(*session.DeskTerrain) bool { return true })
		own, other := metricsOf(t, w.node), metricsOf(t, w.served)
		wrong = misshown(s.Stats, own, other)
		return len(wrong) == 0
	}
	if !rippletest.Soon(right) {
		t.Errorf("the metrics are wrong: %q", wrong)
	}
}

// misshown returns what is wrong with the metrics of a machine, and with those of a machine without
// shards.
func misshown(s *answer.TerrainStats, own, other map[string]float64) (wrong []string) {
	expect := func(all map[string]float64, name string, want float64) {
		if got, ok := all[name]; !ok || got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", name, got, want))
		}
	}
	silent := 0.0
	for _, one := range s.Shards {
		outbox := fmt.Sprintf("ripple_outbox_messages{shard=\"%d\"}", one.Shard)
		if one.Status == nil {
			if _, shown := own[outbox]; shown {
				wrong = append(wrong, outbox)
			}
			silent++
			continue
		}
		visited, untold := 0.0, 0.0
		for name, value := range own {
			if strings.HasPrefix(name, fmt.Sprintf("ripple_pages{shard=\"%d\"", one.Shard)) {
				visited += value
			}
		}
		for _, b := range one.Backlog {
			untold += float64(b.URLs)
		}
		expect(own, outbox, untold)
		expect(map[string]float64{"pages": visited}, "pages", float64(one.Status.Pages))
	}
	for _, all := range []map[string]float64{own, other} {
		expect(all, `ripple_terrain_shards{state="silent"}`, silent)
		expect(all, "ripple_terrain_nodes", 2)
		for _, one := range silentShards(s) {
			expect(all, fmt.Sprintf("ripple_terrain_silent_since_timestamp_seconds{shard=\"%d\"}", one.Shard),
				float64(one.Silent.UnixMilli())/1000)
		}
	}
	if len(silentShards(s)) == 0 || own["ripple_terrain_oldest_wait_timestamp_seconds"] == 0 {
		wrong = append(wrong, "nobody waits")
	}
	return wrong
}

// metricsOf returns the metrics that a desk exports, by name and labels.
func metricsOf(t *testing.T, d *testDesk) map[string]float64 {
	t.Helper()
	at := *d
	at.base = strings.TrimSuffix(d.base, "api/v1/")
	code, text := at.get("metrics")
	if code != http.StatusOK {
		t.Fatalf("metrics: %d %s", code, text)
	}
	if problems, err := promlint.New(strings.NewReader(string(text))).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(line, "#") {
			all[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return all
}

// The page of a terrain shows live which shards wait for which, commands all machines, and explains
// how to get the map.
func TestTerrainInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newTerrainWithDesks(t)
	b := newTestDesk(t, w.addresses[0]).inBrowser(t, "now")
	s := w.node.terrain("who waits for the dead one", func(s *session.DeskTerrain) bool { return len(silentShards(s.Stats)) > 0 })
	silent := silentShards(s.Stats)[0]
	b.Wait(fmt.Sprintf(`document.querySelector(".notes")?.innerText.includes("shard %d does not answer: ")`,
		silent.Shard))
	b.Wait(fmt.Sprintf(`document.querySelector(".shards tbody tr:nth-child(%d)").innerText.includes("silent")`,
		silent.Shard+1))
	b.Wait(`document.querySelector("#pulse").innerText.includes(" silent")`)
	b.Visit("hosts", `document.querySelector("#view pre")?.innerText.startsWith("ripple merge ")`)
	if links := desktest.Ask[string](b, `[...document.querySelectorAll("#views a")].map((a) => a.innerText).join()`); links !=
		"Terrain,Control" {
		t.Errorf("the views are %s", links)
	}
	b.Visit("control", `document.querySelector(".commands")`)
	press(b, "Pause")
	b.Wait(`document.querySelector(".lead").innerText.startsWith("run #1 is paused on all nodes")`)
	b.Visit("now", `document.querySelector(".shards")?.innerText.includes("paused")`) // it is live
	b.Visit("control", `[...document.querySelectorAll(".commands button:disabled")].map((x) => x.innerText).join() === "Pause"`)
	press(b, "Stop")
	b.Wait(`document.querySelector("dialog[open]")`)
	press(b, "Stop")
	if code := w.one.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, w.one.said)
	}
	b.Wait(`document.querySelector("#pulse").innerText.startsWith("disconnected since")`)
}
