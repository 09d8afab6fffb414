package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
)

// TestCrawlDiskFullStopped stops a crawl by a signal while it waits for room: it says that visits
// since the last commit are not kept.
func TestCrawlDiskFullStopped(t *testing.T) {
	t.Parallel()
	disk := crawltest.SmallDisk(t, "60m") // less than the free space that a crawl needs
	cmd, said := crawlsFull(t, rippletest.WriteConfig(t, rippletest.NewWeb(t), disk, false))
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(string(rest), "the disk is full") {
		t.Errorf("exit %d: %s", code, rest)
	}
}

// TestReloadDiskFull reloads a crawl that waits for room: that is refused, and the crawl continues
// when there is room.
func TestReloadDiskFull(t *testing.T) {
	t.Parallel()
	disk := crawltest.SmallDisk(t, "96m")
	path, filler := rippletest.WriteConfig(t, rippletest.NewWeb(t), disk, false), filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 50<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, said := crawlsFull(t, path)
	_, why, code := ran(t, "reload", "--config", path)
	want := "the disk is full: " + disk + " needs 64 MB free; nothing that was committed is lost; make room there and reload"
	if code != 1 || !strings.Contains(why, want) {
		t.Errorf("reload: exit %d: %s", code, why)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "the crawl goes on as before") {
		t.Errorf("%v: %s", err, rest)
	}
}

// crawlsFull starts a crawl, and returns it with its further messages once it has said that the
// disk is full.
func crawlsFull(t *testing.T, path string) (cmd *exec.Cmd, said *bufio.Reader) {
	t.Helper()
	cmd = ripple("crawl", path)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said = bufio.NewReader(out)
	for line := ""; !strings.Contains(line, "the disk is full"); {
		if line, err = said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return cmd, said
}

// TestPruneDiskFull prunes and compacts a file next to which there is no room: the message says
// what helps.
func TestPruneDiskFull(t *testing.T) {
	t.Parallel()
	from := filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt")
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
