//go:build !windows

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What a killed query leaves in the folder of temporary files goes with the next
// command, not before the process has ended.
func TestKilledQuery(t *testing.T) {
	program, cfg, dir := built(t), crawled(t, 3), t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, append(args, "--config", cfg)...)
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		return cmd
	}
	endless := command("query", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")
	if err := endless.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = endless.Process.Kill() }()
	databases := func() int {
		found, err := filepath.Glob(filepath.Join(dir, ".ripple-new-*", "terrain.db"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for end := time.Now().Add(20 * time.Second); databases() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no query was begun")
		}
	}
	stats := func() {
		t.Helper()
		if out, err := command("stats").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if stats(); databases() != 1 {
		t.Error("the database of a running query is gone")
	}
	if err := endless.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = endless.Wait()
	stats()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Outputs have the permissions that the umask leaves; the state is this user's.
func TestOutputsUnderUmask(t *testing.T) {
	program, cfg := built(t), crawled(t, 4)
	for mask, file := range map[string]fs.FileMode{"002": 0o664, "027": 0o640, "077": 0o600} {
		dir := t.TempDir()
		script := `umask "$1"; cd "$2"; "$3" init >/dev/null && "$3" export --config "$4" ` +
			`--sqlite terrain.db --gexf terrain.gexf ` +
			`--map terrain.html --csv csv --parquet parquet && "$3" init made.toml`
		out, err := exec.Command("sh", "-c", script, "sh", mask, dir, program, cfg).CombinedOutput()
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
				want |= file >> 2 & 0o111 // who may read a folder may enter it
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
