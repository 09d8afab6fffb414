package atomicfile_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/atomicfile"
)

func ours(head []byte) bool { return bytes.HasPrefix(head, []byte("ours")) }

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// tree reads a folder: paths and contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.gexf")
	say := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := atomicfile.Stream(t.Context(), path, say("ours 1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, ".ripple-new-1")
	put(t, filepath.Join(old, "file"), "left behind")
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no more")
	err := atomicfile.Stream(t.Context(), path, func(w io.Writer) error { _ = say("half")(w); return failed })
	if !errors.Is(err, failed) {
		t.Errorf("failed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := atomicfile.Stream(ctx, path, say("ours 2")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"x.gexf": "ours 1"}, tree(t, dir)); diff != "" {
		t.Errorf("after two failures (-want +got):\n%s", diff)
	}
	if err := atomicfile.Stream(t.Context(), path, say("ours 3")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := tree(t, dir)["x.gexf"]; got != "ours 3" {
		t.Errorf("got %q", got)
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "ours"), "ours and more")
	put(t, filepath.Join(dir, "foreign"), "precious")
	put(t, filepath.Join(dir, "empty"), "")
	tests := []struct {
		name    string
		force   bool
		foreign bool
	}{
		{"absent", false, false}, {"ours", false, false}, {"foreign", false, true}, {"empty", false, true},
		{"foreign", true, false}, {".", false, true}, {".", true, true},
	}
	for _, tt := range tests {
		err := atomicfile.CheckFile(filepath.Join(dir, tt.name), tt.force, ours)
		if errors.Is(err, atomicfile.ErrForeign) != tt.foreign || (err != nil) != tt.foreign {
			t.Errorf("%s, force %v: %v", tt.name, tt.force, err)
		}
	}
}

// Writing to a link keeps it and replaces its target.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "far", "file"), "ours 1")
	if err := write(filepath.Join(dir, "far", "folder"), "1"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "folder"} {
		if err := os.Symlink(filepath.Join("far", name), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(dir, "twice")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("far", "new"), filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new", "twice"} {
		err := atomicfile.Stream(t.Context(), filepath.Join(dir, name),
			func(w io.Writer) error { _, err := io.WriteString(w, "ours 2"); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := write(filepath.Join(dir, "folder")+"/", "2"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "folder", "new", "twice"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", name, info.Mode(), err)
		}
	}
	got := tree(t, filepath.Join(dir, "far"))
	if got["file"] != "ours 2" || got["new"] != "ours 2" || got["folder/a"] != "2" {
		t.Errorf("behind the links: %q", got)
	}
}

// TestSlash writes a folder whose name ends in a slash.
func TestSlash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x") + "/"
	for _, text := range []string{"1", "2"} {
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
	}
	if got := tree(t, path); got["a"] != "2" || len(got) != 3 {
		t.Errorf("got %q", got)
	}
}

// write writes a folder of two files that contain text.
func write(path, text string) error {
	return atomicfile.Folder(path, func(dir string) ([]string, map[string]any, error) {
		for _, name := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return nil, nil, err
			}
		}
		return []string{"a", "b"}, map[string]any{"run": 1}, nil
	})
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "csv")
	manifest := "{\n  \"files\": [\n    \"a\",\n    \"b\"\n  ],\n  \"ripple\": \"export\",\n  \"run\": 1\n}\n"
	for _, text := range []string{"one", "two"} {
		if err := atomicfile.CheckFolder(path, "", false); err != nil {
			t.Fatal(err)
		}
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"csv/a": text, "csv/b": text, "csv/ripple.json": manifest}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	}
	failed := errors.New("no more")
	err := atomicfile.Folder(path, func(dir string) ([]string, map[string]any, error) {
		return nil, nil, errors.Join(failed, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	})
	if got := tree(t, dir); !errors.Is(err, failed) || len(got) != 3 || got["csv/a"] != "two" {
		t.Errorf("a failed one: %v, left %v", err, got)
	}
}

func TestFolderForeign(t *testing.T) {
	tests := map[string]map[string]string{
		"another file":         {"precious": "x"},
		"a file beside ours":   {"precious": "x", "ripple.json": `{"ripple":"export","files":["a","b"]}`, "a": ""},
		"a folder beside ours": {"deep/precious": "x", "ripple.json": `{"ripple":"export","files":["a","b","deep"]}`},
		"another manifest":     {"ripple.json": `{"files":["a"]}`, "a": "x"},
		"no manifest":          {"ripple.json": `precious`},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "csv")
			for name, text := range files {
				put(t, filepath.Join(path, name), text)
			}
			if err := atomicfile.CheckFolder(path, "", false); !errors.Is(err, atomicfile.ErrForeign) {
				t.Errorf("%v; want ErrForeign", err)
			}
			if err := atomicfile.CheckFolder(path, "", true); err != nil {
				t.Errorf("forced: %v", err)
			}
			if err := write(path, "new"); err != nil {
				t.Fatal(err)
			}
			got := tree(t, path)
			for name, text := range files {
				if name != "a" && name != "ripple.json" && got[name] != text {
					t.Errorf("%s is now %q", name, got[name])
				}
			}
			if got["a"] != "new" || got["b"] != "new" {
				t.Errorf("got %v", got)
			}
		})
	}
	other := filepath.Join(t.TempDir(), "csv")
	put(t, filepath.Join(other, "a.csv"), "x")
	put(t, filepath.Join(other, "ripple.json"), `{"ripple":"export","files":["a.csv"]}`)
	if err := atomicfile.CheckFolder(other, "", false); !errors.Is(err, atomicfile.ErrForeign) {
		t.Errorf("ours, of another ending: %v", err)
	}
	if err := errors.Join(atomicfile.CheckFolder(other, "", true), write(other, "new")); err != nil || len(tree(t, other)) != 3 {
		t.Errorf("forced: %v, %v", err, tree(t, other))
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "x")
	if err := atomicfile.CheckFolder(file, "", true); !errors.Is(err, atomicfile.ErrForeign) {
		t.Errorf("a file: %v", err)
	}
	if err := atomicfile.CheckFolder(t.TempDir(), "", false); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
}
