//go:build !windows

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// A query ends when it is interrupted, at any time, and leaves nothing in the folder of temporary
// files.
func TestInterruptedQuery(t *testing.T) {
	t.Parallel()
	cmd, dir := ripple("query", "-", "--config", rippletest.Crawled(t, 3)), t.TempDir()
	cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	endless := "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) " +
		"SELECT 1 UNION ALL SELECT count(*) FROM c"
	// More than a pipe holds: once it is written, it is being read, and signals are handled.
	if _, err := io.WriteString(in, endless+strings.Repeat(" ", 1<<19)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(in.Close(), cmd.Process.Signal(os.Interrupt)); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d; want 130", code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Outputs have the permissions that the umask leaves; the state file is only for this user.
func TestOutputsUnderUmask(t *testing.T) {
	t.Parallel()
	cfg := rippletest.Crawled(t, 4)
	for mask, file := range map[string]fs.FileMode{"002": 0o664, "027": 0o640, "077": 0o600} {
		dir := t.TempDir()
		script := `umask "$1"; cd "$2"; ripple init >/dev/null && ripple export --config "$3" ` +
			`--sqlite terrain.db --gexf terrain.gexf ` +
			`--map terrain.html --csv csv --parquet parquet && ripple init made.toml`
		out, err := exec.Command("sh", "-c", script, "sh", mask, dir, cfg).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		n := 0
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			info, err := d.Info()
			want := file
			if d.IsDir() {
				want |= file >> 2 & 0o111 // users who may read a folder may enter it
			}
			if n++; err == nil && info.Mode().Perm() != want {
				t.Errorf("umask %s: %s has %v, want %v", mask, d.Name(), info.Mode(), want)
			}
			return err
		})
		if err != nil || n < 12 {
			t.Errorf("%d files, %v", n, err)
		}
	}
	state := filepath.Join(filepath.Dir(cfg), "state.bolt")
	if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state: %v, %v", info.Mode(), err)
	}
}
