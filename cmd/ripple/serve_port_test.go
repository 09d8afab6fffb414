package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// If an address is in use, the second desk says so in one line before it begins anything, and the
// first one stays.
func TestOneAddressTwoDesks(t *testing.T) {
	c := startCrawl(t, "--listen", "127.0.0.1:0")
	address := c.desk()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	other := rippletest.WriteConfig(t, rippletest.NewWeb(t), dir, true)
	state := filepath.Join(c.dir, "ripple.bolt")
	for _, args := range [][]string{
		{"crawl", other, "--listen", u.Host}, {"serve", "--state", state, "--listen", u.Host},
	} {
		cmd := ripple(args...)
		out, _ := cmd.CombinedOutput()
		text := strings.TrimSpace(string(out))
		if code := cmd.ProcessState.ExitCode(); code != 2 || strings.Contains(text, "\n") ||
			!strings.Contains(text, u.Host+" is in use") {
			t.Errorf("%q: exit %d: %s", args, code, text)
		}
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 2 { // the configuration and its certificate
		t.Errorf("the second crawl has begun something: %v, %v", found, err)
	}
	if got := newTestDesk(t, address).json("status").(map[string]any)["mode"]; got != "crawl" {
		t.Errorf("the first desk: %v", got)
	}
}
