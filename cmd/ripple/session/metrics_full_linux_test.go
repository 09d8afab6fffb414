package session

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// The disk becomes full in the middle of a line. Once there is room again, every line is complete.
func TestMetricsDiskFull(t *testing.T) {
	t.Parallel()
	disk := crawltest.SmallDisk(t, "256k")
	path, filler := filepath.Join(disk, "metrics.csv"), filepath.Join(disk, "filler")
	m, err := openMetrics(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.file.Close()
	crawltest.FillDisk(t, filler)
	failed := 0
	for range 100 {
		if m.append(time.Unix(1_700_000_000, 0), &census.Status{RunID: 1}) != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Fatal("the disk was never full")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := m.append(time.Unix(1_700_000_010, 0), &census.Status{RunID: 1}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := csv.NewReader(bytes.NewReader(text)).ReadAll(); err != nil {
		t.Error(err)
	}
	if !bytes.Contains(text, []byte("\n1700000010,run_id,1\n")) {
		t.Error("the moment with room again is not there")
	}
}
