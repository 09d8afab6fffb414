//go:build linux || darwin

package proof

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// firsts records when URLs were first met, and first received, in a file of meetings.
func firsts(t *testing.T, path string, when map[string]map[string]int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var how, url string
		var at int64
		if _, err := fmt.Sscan(lines.Text(), &how, &at, &url); err != nil {
			t.Fatal(err)
		}
		if was, ok := when[how][url]; !ok || at < was {
			when[how][url] = at
		}
	}
}

// TestHandOver measures the time from the commit in which a node first meets a URL of another node
// to that node's commit with the URL.
func TestHandOver(t *testing.T) {
	if os.Getenv("RIPPLE_PROOF_COST") == "" {
		t.Skip("measures: RIPPLE_PROOF_COST=1")
	}
	web, text, _ := costWeb(t, 300)
	ms := newMachines(t, rand.New(rand.NewPCG(1, 1)), web, text, 3, 3)
	ms.faster = "1" // a letter is lost together with a lost lease
	for _, m := range ms.all {
		if err := ms.start(m, envFresh+"=1", envMeets+"="+meetingsOf(m)); err != nil {
			t.Fatal(err)
		}
	}
	when := map[string]map[string]int64{met: {}, told: {}}
	for _, m := range ms.all {
		if err := m.end(); err != nil {
			t.Fatal(err)
		}
		firsts(t, meetingsOf(m), when)
	}
	var took []time.Duration
	for url, at := range when[told] {
		since, ok := when[met][url]
		if !ok || since > at {
			t.Fatalf("%s was told of at %d, and met at %d", url, at, since)
		}
		took = append(took, time.Duration(at-since))
	}
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatal("nothing was told")
	}
	t.Logf("of %d URLs %d were told of: half of them within %v, 99 %% within %v, all within %v", len(when[met]),
		len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}

func meetingsOf(m *machine) string { return filepath.Join(m.folder, "meetings.txt") }
