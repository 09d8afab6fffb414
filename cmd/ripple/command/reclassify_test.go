package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// If many pages change, people see some of them and the number of the others; programs get all of
// them.
func TestReclassifyMany(t *testing.T) {
	t.Parallel()
	const shownPages, pages = 20, 25
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	var front strings.Builder
	for i := range pages {
		fmt.Fprintf(&front, "<a href=\"https://far.test/%d\">far</a>\n", i)
	}
	web.Host("a.test").Page("/", front.String())
	dir := t.TempDir()
	if _, err := web.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.toml")
	run := func(text string, args ...string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, told bytes.Buffer
		if err := New(&out, &told).Run(t.Context(), append(args, path)); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, told.String())
		}
		return out.String()
	}
	text := strings.Replace(rippletest.SmallConfig(web.Addr(), false, nil), "max-depth = 2", "max-depth = 0", 1)
	run(text, "crawl")
	text = strings.Replace(text, `"*.track.test"`, `"far.test"`, 1)
	shown := run(text, "reclassify", "--dry-run")
	if n := strings.Count(shown, "https://far.test/"); n != shownPages ||
		!strings.HasSuffix(shown, "\nand 5 more; --json lists all\n") {
		t.Errorf("%d pages are shown:\n%s", n, shown)
	}
	var all struct {
		Changed int                 `json:"pages_changed"`
		Turned  []map[string]string `json:"turned_pages"`
	}
	if err := json.Unmarshal([]byte(run(text, "reclassify", "--dry-run", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"url": "https://far.test/0", "class_before": "discovered", "class": "blacklist",
		"state_before": "depth_exceeded", "state": "blacklisted"}
	if all.Changed != pages || len(all.Turned) != pages || !maps.Equal(all.Turned[0], want) {
		t.Errorf("JSON has %d of %d pages: %+v", len(all.Turned), all.Changed, all.Turned)
	}
}
