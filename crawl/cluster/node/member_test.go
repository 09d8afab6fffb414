package node

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// A node that has read the charter, and takes up what it has read only after it has seen a later change, sees that
// change again.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: crawltest.Address(t), Store: filepath.Join(t.TempDir(), "hub"), Log: crawltest.Log(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	conn, err := hub.Connect(t.Context(), hub.Dial{URL: server.URL(), Node: "one", Log: crawltest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	terrain := silentShards(t, conn, 1)
	directory, err := conn.Bucket(t.Context(), [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := find(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	m := paperMember("one", found.charter, directory)
	if err := m.watch(t.Context(), directory, terrain); err != nil {
		t.Fatal(err)
	}
	seesPause := func() bool {
		for began := time.Now(); time.Since(began) < m.timing.Renew; time.Sleep(10 * time.Millisecond) {
			if c, err := m.refresh(t.Context()); err != nil {
				t.Fatal(err)
			} else if c != nil && c.paused() {
				return true
			}
		}
		return false
	}
	_, err = m.change(t.Context(), func(*charter) (bool, error) {
		if _, err := Pause(t.Context(), conn, true); err != nil {
			return false, err
		}
		if !seesPause() {
			t.Error("the node does not see that the terrain is paused")
		}
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !seesPause() {
		t.Error("the node has forgotten that the terrain is paused")
	}
}
