package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// TestExportDiskFull exports to a disk that has no room for the new file: the error says so, the
// old file is unchanged, and nothing else is left.
func TestExportDiskFull(t *testing.T) {
	t.Parallel()
	cfg := rippletest.CrawledKept(t, 1)
	for _, format := range []string{"sqlite", "wacz", "gexf", "graphml", "dot", "opml", "jsonl", "map", "csv", "parquet"} {
		t.Run(format, func(t *testing.T) {
			disk := crawltest.SmallDisk(t, "8m")
			target := filepath.Join(disk, "out")
			args := []string{"export", "--config", cfg, "--" + format, target}
			if _, complaints, code := ran(t, args...); code != 0 {
				t.Fatalf("with room: %s", complaints)
			}
			before := contents(t, target)
			crawltest.FillDisk(t, filepath.Join(disk, "filler"))
			_, complaints, code := ran(t, args...)
			if code != 1 || !strings.Contains(complaints, "write "+target) || !isFull(complaints) {
				t.Errorf("exit %d: %q", code, complaints)
			}
			if after := contents(t, target); !bytes.Equal(before, after) {
				t.Errorf("the old output is %d bytes of %d", len(after), len(before))
			}
			if entries, err := os.ReadDir(disk); err != nil || len(entries) != 2 {
				t.Errorf("left on the disk: %v, %v", entries, err)
			}
		})
	}
}

// isFull reports whether a text says that the disk is full.
func isFull(text string) bool {
	return strings.Contains(text, "no space left on device") || strings.Contains(text, "disk is full")
}

// TestExportWithoutTMPDIR has no folder for temporary files: those of an export are next to its
// target.
func TestExportWithoutTMPDIR(t *testing.T) {
	t.Parallel()
	cfg := rippletest.Crawled(t, 1)
	target := filepath.Join(t.TempDir(), "x.db")
	cmd := ripple("export", "--config", cfg, "--sqlite", target)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(t.TempDir(), "none"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	requireWhole(t, target)
}
