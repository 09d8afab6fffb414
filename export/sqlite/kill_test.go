package sqlite_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/export/sqlite"
)

const killedTarget = "RIPPLE_TEST_SQLITE_TARGET"

// TestKilled kills a process that exports repeatedly: the target file is complete at every moment.
func TestKilled(t *testing.T) {
	if path := os.Getenv(killedTarget); path != "" {
		exportForever(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "x.db")
	for kill := range 5 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), killedTarget+"="+path, "TMPDIR="+filepath.Dir(path))
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range kill + 2 { // the last announced export is in progress
			if !lines.Scan() {
				t.Fatal("the exporting process has ended by itself")
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // killed, as intended
		if err := sqlite.Check(t.Context(), open(t, path)); err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
	}
}

func exportForever(t *testing.T, path string) {
	s := terrain(t).Survey()
	for {
		os.Stdout.WriteString("exporting\n")
		if err := sqlite.Write(context.Background(), path, s, sqlite.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}
