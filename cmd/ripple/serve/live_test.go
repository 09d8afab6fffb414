package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A desk reads the shards in a folder again even if no file was added or removed.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shard.bolt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(path string) fs.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	write("one")
	one, folder := look(file), look(dir)
	if !unchanged(one, look(file)) {
		t.Error("a file has changed by itself")
	}
	write("other")
	if unchanged(one, look(file)) || unchanged(folder, look(dir)) {
		t.Error("what has changed is taken for what was read")
	}
}

// The status of a run that is over has the counts that its crawl showed while it was running,
// including rendered pages and hosts that were given up.
func TestEndedStatus(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/", "c.test/"))
	w.Host("b.test/", func(h *schema.Host) { h.RunGivenUp = schema.GaveUpConnection })
	w.Host("c.test/", func(h *schema.Host) { h.RunGivenUp, h.Run = schema.GaveUpConnection, 0 })
	w.Change(func(r *schema.Run) {
		r.Status, r.Walked, r.Pages, r.Rendered, r.Unrendered, r.Requests = schema.RunCompleted, true, 9, 5, 2, 20
	})
	s, err := answer.NewStats(&statefile.State{Survey: w.Survey(), Store: w.Store}, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := endedStatus(s)
	if got := [...]int{d.Pages, d.Rendered, d.Unrendered, d.Requests, d.Hosts.GivenUp}; got != [...]int{9, 5, 2, 20, 1} {
		t.Errorf("requested, rendered, not rendered, requests, given up: %v", got)
	}
}
