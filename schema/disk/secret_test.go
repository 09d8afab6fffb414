//go:build unix

package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A secret is read by its owner alone, or by a group to which root gives it.
func TestSecret(t *testing.T) {
	if path := os.Getenv("RIPPLE_TEST_SECRET"); path != "" { // see below
		if err := Secret(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o644: false, 0o640: false, 0o604: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := Secret(path); (err == nil) != want {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := Secret(filepath.Dir(path)); err == nil {
		t.Error("a folder is a secret")
	}
	if os.Getuid() != 0 {
		return // only root can give a file to another user's group
	}
	for mode, want := range map[os.FileMode]bool{0o640: true, 0o440: true, 0o660: false, 0o644: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := asNobody(t, path); (err == nil) != want {
			t.Errorf("mode %o, of root, for another user: %v", mode, err)
		}
	}
}

// asNobody runs the test as another user, who may look at the secret.
func asNobody(t *testing.T, path string) error {
	t.Helper()
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(filepath.Dir(path), "test")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestSecret$")
	cmd.Env = append(os.Environ(), "RIPPLE_TEST_SECRET="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd.Run()
}
