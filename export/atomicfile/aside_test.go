package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// folder creates a folder of Ripple's with one file.
func folder(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a": text, Manifest: `{"ripple": "export", "files": ["a"]}`} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestSetAside replaces a folder where the system cannot exchange two, also after a kill in between,
// and removes no foreign files.
func TestSetAside(t *testing.T) {
	tests := []struct {
		name  string
		begin func(t *testing.T, path string)
		kept  string // text in the aside folder at the end; "": none
	}{
		{"an old one", func(t *testing.T, path string) { folder(t, path, "old") }, ""},
		{"killed with the old one aside", func(t *testing.T, path string) { folder(t, path+asideMark, "old") }, ""},
		{"killed before the old one was removed", func(t *testing.T, path string) {
			folder(t, path, "newer")
			folder(t, path+asideMark, "old")
		}, ""},
		{"somebody else's folder of that name", func(t *testing.T, path string) {
			if err := os.Remove(filepath.Join(folder(t, path+asideMark, "precious"), Manifest)); err != nil {
				t.Fatal(err)
			}
		}, "precious"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "csv")
			tt.begin(t, path)
			publish := setAside
			if _, err := os.Stat(path); err != nil {
				publish = func(temporary, path string) error { return publishFolder(temporary, path, []string{"a", Manifest}) }
			}
			if err := publish(folder(t, filepath.Join(t.TempDir(), "temporary"), "new"), path); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(path, "a"))
			if string(text) != "new" {
				t.Errorf("%q, %v; want the new one", text, err)
			}
			if text, _ := os.ReadFile(filepath.Join(path+asideMark, "a")); string(text) != tt.kept {
				t.Errorf("%q lies aside, want %q", text, tt.kept)
			}
		})
	}
}
