package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
)

// TestCrawlDiskFullStopped stops a crawl by a signal while it waits for room: it says that what it
// has fetched since the last commit is not kept.
func TestCrawlDiskFullStopped(t *testing.T) {
	t.Parallel()
	disk := crawltest.SmallDisk(t, "60m") // less than a crawl wants free
	cmd := ripple("crawl", writeConfig(t, newWeb(t), disk, false))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	for line := ""; !strings.Contains(line, "the disk is full"); {
		if line, err = said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(string(rest), "the disk is full") {
		t.Errorf("exit %d: %s", code, rest)
	}
}

// TestPruneDiskFull prunes and compacts a file beside which there is no room: what is said is what
// helps.
func TestPruneDiskFull(t *testing.T) {
	t.Parallel()
	from := filepath.Join(filepath.Dir(crawled(t, 1)), "state.bolt")
	disk := crawltest.SmallDisk(t, "8m")
	path := filepath.Join(disk, "state.bolt")
	if err := kv.Compact(from, path); err != nil {
		t.Fatal(err)
	}
	crawltest.FillDisk(t, filepath.Join(disk, "filler"))
	for _, args := range [][]string{{"prune"}, {"verify", "--compact"}} {
		_, said, code := ran(t, append(args, "--state", path)...)
		if code != 1 || !strings.Contains(said, "kB in "+disk+", which has 0 B; make room there") {
			t.Errorf("%s: exit %d: %s", args[0], code, said)
		}
	}
	if entries, err := os.ReadDir(disk); err != nil || len(entries) != 2 {
		t.Errorf("left on the disk: %v, %v", entries, err)
	}
}
