//go:build !windows

package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A machine that is killed while it sends the message that the run is over sends it again when it
// is restarted: the same message, with the same id, and no other of that run.
func TestTerrainWebhookKilled(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web, dir := crawltest.Serve(t, webtest.WithoutLog()), t.TempDir()
	crawltest.Sites(web, 11, 3)
	got, killed := slowHook(t, web)
	path := filepath.Join(dir, "node.toml")
	text := crawltest.Config(t, web, fmt.Sprintf("[cluster]\nhub = %q\nshards = 2\nfolder = \"./terrain\"\n",
		server.URL())+"[monitor]\n"+crawltest.SeedsOfSites)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hooked(t, path)
	m := &machine{t: t, config: path}
	m.start()
	first := <-got
	m.signal(syscall.SIGKILL)
	m.end()
	close(killed)
	m.start()
	if code := m.end(); code != 0 {
		t.Fatalf("exit code %d: %s", code, m.said)
	}
	seen := map[string]string{}
	for range len(got) {
		m := <-got
		if m.Kind != "run.completed" || seen[m.ID] != "" || !strings.Contains(m.Body, `"state":"terrain"`) ||
			m.ID != first.ID && strings.Contains(m.Body, `"run_id":1,`) {
			t.Errorf("told %+v", m)
		}
		seen[m.ID] = m.Body
	}
	if seen[first.ID] != first.Body { // of the next run, too, if all files had said that the first one was over
		t.Errorf("of run 1 is told %+v, and after the kill %q", first, seen)
	}
}
