package decision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
)

func host(t testing.TB, name string) scope.Pattern {
	t.Helper()
	p, _, err := scope.ParsePattern(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// as returns an edit that sets the class and keeps the rest.
func as(p scope.Pattern, class config.DecidedClass) []Change {
	return []Change{{p, func(before *config.Decision) *config.Decision {
		d := config.Decision{Host: p}
		if before != nil {
			d = *before
		}
		d.Class = class
		return &d
	}}}
}

// without removes an entry.
func without(p scope.Pattern) Change {
	return Change{p, func(*config.Decision) *config.Decision { return nil }}
}

const byPeople = `# Our decisions. Talk to Ada before you change them.

[[decision]]            # a forge
host  = "forge.test"
class = "stub"
note  = "everybody links there"

[[decision]]
host = "a.test"
class = "quality"
tags = ["radio", "salt"]
# end of the list
`

// Handwritten text stays byte for byte; Ripple's own entries change in place.
func TestApply(t *testing.T) {
	tests := []struct {
		name, text, host string
		class            config.DecidedClass
		want             string
		err              error
	}{
		{"an empty file", "", "b.test", "later", "[[decision]]\nhost = \"b.test\"\nclass = \"later\"\n", nil},
		{"a new host", byPeople, "b.test", "stub", byPeople + "\n[[decision]]\nhost = \"b.test\"\nclass = \"stub\"\n", nil},
		{"its own entry", byPeople, "a.test", "stub",
			strings.Replace(byPeople, "a.test\"\nclass = \"quality\"", "a.test\"\nclass = \"stub\"", 1), nil},
		{"an entry of people", byPeople, "forge.test", "blacklist", "", ErrForeign},
		{"its own entry, with a key added behind it",
			"[[decision]]\nhost = \"a.test\"\nclass = \"stub\"\n\n# so:\nnote = \"x\"\n", "a.test", "later", "", ErrForeign},
		{"ends of lines", "# x\r\n[[decision]]\r\nhost = \"a.test\"\r\nclass = \"stub\"\r\n# y\r\n", "a.test", "later",
			"# x\r\n[[decision]]\r\nhost = \"a.test\"\r\nclass = \"later\"\r\n# y\r\n", nil},
		{"no end of the last line", "# x", "a.test", "later",
			"# x\n\n[[decision]]\nhost = \"a.test\"\nclass = \"later\"\n", nil},
		{"another name", "[[decision]]\nhost = \"xn--bcher-kva.test\"\nclass = \"stub\"\n", "Bücher.test", "later",
			"[[decision]]\nhost = \"xn--bcher-kva.test\"\nclass = \"later\"\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := host(t, tt.host)
			got, _, err := Apply("d.toml", []byte(tt.text), as(p, tt.class), nil)
			if !errors.Is(err, tt.err) || err == nil && string(got) != tt.want {
				t.Errorf("%v\n%s", err, cmp.Diff(tt.want, string(got)))
			}
		})
	}
}

// Several changes are made together or not at all, and undone by the entries as they were.
func TestApplySeveral(t *testing.T) {
	a, b, c, forge := host(t, "a.test"), host(t, "b.test"), host(t, "c.test"), host(t, "forge.test")
	changes := append(append(as(b, "stub"), as(c, "later")...), without(a))
	text, edited, err := Apply("d.toml", []byte(byPeople), changes, nil)
	own := "\n[[decision]]\nhost = \"a.test\"\nclass = \"quality\"\ntags = [\"radio\", \"salt\"]\n"
	want := strings.Replace(byPeople, own, "", 1) + "\n[[decision]]\nhost = \"b.test\"\nclass = \"stub\"\n" +
		"\n[[decision]]\nhost = \"c.test\"\nclass = \"later\"\n"
	if err != nil || string(text) != want {
		t.Fatalf("%v\n%s", err, cmp.Diff(want, string(text)))
	}
	if edited[0].Before != nil || edited[0].After.Class != "stub" || edited[2].After != nil ||
		len(edited[2].Before.Tags) != 2 {
		t.Errorf("edited: %+v", edited)
	}
	var undo []Change
	for i, e := range edited {
		undo = append(undo, Change{changes[i].Host, func(*config.Decision) *config.Decision { return e.Before }})
	}
	back, _, err := Apply("d.toml", text, undo, nil)
	was, _ := config.ParseDecisions("d.toml", []byte(byPeople))
	is, bad := config.ParseDecisions("d.toml", back)
	if diff := cmp.Diff(fmt.Sprint(was), fmt.Sprint(is)); err != nil || bad != nil || diff != "" {
		t.Errorf("undone: %v, %v, %s", err, bad, diff)
	}
	text, _, err = Apply("d.toml", []byte(byPeople), append(as(b, "stub"), as(forge, "later")...), nil)
	if !errors.Is(err, ErrForeign) || text != nil {
		t.Errorf("with an entry of people: %v, %q", err, text)
	}
	if text, _, err = Apply("d.toml", []byte(byPeople), []Change{without(b)}, nil); err != nil || string(text) != byPeople {
		t.Errorf("without an entry that is not there: %v, %q", err, text)
	}
}

// An undo restores the file byte for byte, and nothing that the entries before do not say.
func TestUndo(t *testing.T) {
	a, b, forge := host(t, "a.test"), host(t, "b.test"), host(t, "forge.test")
	own := "[[decision]]\nhost = \"a.test\"\nclass = \"stub\"\nnote = \"ü\"\n"
	for name, text := range map[string]string{
		"in the middle":           byPeople,
		"first":                   own + "# é\n\n# è\n",
		"no blank line":           "# x\n" + own + "# y",
		"alone":                   own,
		"ends of lines":           strings.ReplaceAll("# x\n\n"+own+"\n\n# y\n", "\n", "\r\n"),
		"a mark of byte order":    "\ufeff" + own,
		"no end of its last line": own + "\n# é",
	} {
		for _, changes := range [][]Change{{without(a)}, as(a, "blacklist"), as(b, "later"), append(as(b, "later"), without(a))} {
			path := filepath.Join(t.TempDir(), "d.toml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			done, err := Write(path, "", changes, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var undo []Change
			for i, e := range done.Edited {
				undo = append(undo, Change{changes[i].Host, func(*config.Decision) *config.Decision { return e.Before }})
			}
			foreign := done.Undo
			foreign.Text += "\n[[decision]]\nhost = \"c.test\"\nclass = \"later\"\n"
			for _, bad := range []*Patch{&foreign, {At: -1}, {At: 1 << 20}, {Length: 1 << 40}} {
				if _, err := Write(path, done.Version, undo, bad); err == nil {
					t.Errorf("%s: %+v was applied", name, bad)
				}
			}
			_, err = Write(path, done.Version, undo, &done.Undo)
			if got, bad := os.ReadFile(path); err != nil || bad != nil || string(got) != text {
				t.Errorf("%s: %v, %v\n%s", name, err, bad, cmp.Diff(text, string(got)))
			}
		}
	}
	if _, _, err := Apply("d.toml", []byte(byPeople), as(forge, "later"), &Patch{}); !errors.Is(err, ErrForeign) {
		t.Errorf("an entry of people: %v", err)
	}
}

// An invalid file is refused with every reason, and not changed.
func TestRefused(t *testing.T) {
	entry := "[[decision]]\nhost = %q\nclass = \"stub\"\n"
	tests := []struct{ name, text, want string }{
		{"no TOML", "[[decision", "no TOML"},
		{"one host twice", fmt.Sprintf(entry+entry, "a.test", "A.test"), "is decided already, at line 1"},
		{"a pattern", fmt.Sprintf(entry, "*.a.test"), "is a pattern"},
		{"a URL", fmt.Sprintf(entry, "https://a.test/"), "is a URL"},
		{"a port", fmt.Sprintf(entry, "a.test:8443"), "has a port"},
		{"an unknown class", "[[decision]]\nhost = \"a.test\"\nclass = \"nice\"\n", "is not one of"},
		{"an unknown key", fmt.Sprintf(entry+"tag = \"x\"\n", "a.test"), "tag"},
		{"seeds of a stub", fmt.Sprintf(entry+"seeds = [\"https://a.test/\"]\n", "a.test"), "only quality has seeds"},
		{"a comma in a tag", fmt.Sprintf(entry+"tags = [\"a,b\"]\n", "a.test"), "is not a tag"},
		{"a long note", fmt.Sprintf(entry+"note = %q\n", "a.test", strings.Repeat("x", 2000)), "longer than"},
		{"too many tags", fmt.Sprintf(entry+"tags = [%s\"x\"]\n", "a.test", strings.Repeat("\"x\",", 40)), "more than 32"},
		{"another table", "[crawler]\nmax-depth = 1\n", "crawler"},
		{"a giant file", "# " + strings.Repeat("x", maxFile), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d.toml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := host(t, "b.test")
			_, err := Write(path, "", as(p, "later"), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Write = %v, want %q", err, tt.want)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.text {
				t.Errorf("the file was changed (%v)", err)
			}
			left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			if hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*toml*")); len(left)+len(hidden) != 1 {
				t.Errorf("the folder holds %q %q", left, hidden)
			}
		})
	}
}

// If another program saves the file during a change, its version is kept.
func TestChangedMeanwhile(t *testing.T) {
	for name, save := range map[string]func(path string) error{
		"in place": func(path string) error { return os.WriteFile(path, []byte("# mine\n"), 0o600) },
		"another file": func(path string) error {
			return errors.Join(os.WriteFile(path+"~", []byte("# mine\n"), 0o600), os.Rename(path+"~", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d.toml")
			if err := os.WriteFile(path, []byte(byPeople), 0o640); err != nil {
				t.Fatal(err)
			}
			p := host(t, "b.test")
			_, err := Write(path, "", []Change{{p, func(*config.Decision) *config.Decision {
				if err := save(path); err != nil {
					t.Fatal(err)
				}
				return &config.Decision{Host: p, Class: "later"}
			}}}, nil)
			if !errors.Is(err, ErrChanged) {
				t.Errorf("Write = %v", err)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "# mine\n" {
				t.Errorf("the file holds %q, %v", text, err)
			}
		})
	}
}

// Concurrent writers lose no entries.
func TestWritersAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	path := filepath.Join(t.TempDir(), "d.toml")
	if err := os.WriteFile(path, []byte(byPeople), 0o640); err != nil {
		t.Fatal(err)
	}
	var g sync.WaitGroup
	for i := range 16 {
		g.Go(func() {
			p := host(t, fmt.Sprintf("h%d.test", i))
			for err := errors.New("not yet"); err != nil; {
				if _, err = Write(path, "", as(p, "later"), nil); err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
					return
				}
			}
		})
	}
	g.Wait()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(text, []byte(byPeople)) {
		t.Errorf("what people wrote has changed (%v)", err)
	}
	if all, err := config.ParseDecisions(path, text); err != nil || len(all) != 18 {
		t.Errorf("%d decisions, %v", len(all), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

// A symbolic link is kept, and its target is changed or created.
func TestSymlink(t *testing.T) {
	t.Run("to a file", func(t *testing.T) {
		testSymlink(t, func(file string) error { return os.WriteFile(file, []byte("# x\n"), 0o600) })
	})
	t.Run("to nothing yet", func(t *testing.T) { testSymlink(t, func(string) error { return nil }) })
}

func testSymlink(t *testing.T, begin func(file string) error) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "kept", "d.toml"), filepath.Join(dir, "d.toml")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), begin(file)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	p := host(t, "b.test")
	if _, err := Write(link, "", as(p, "later"), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if text, err := os.ReadFile(file); err != nil || !bytes.Contains(text, []byte("b.test")) {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// An editor may put a byte order mark before the first entry. Both the entry's ownership and the mark
// are kept.
func TestByteOrderMark(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "d.toml"), host(t, "b.test")
	if _, err := Write(path, "", as(p, "later"), nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("\ufeff"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(path, "", as(p, "stub"), nil); err != nil {
		t.Error(err)
	}
	want := "\ufeff" + strings.Replace(string(text), "later", "stub", 1)
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("the file holds %q, %v; want %q", text, err, want)
	}
}

// A file is changed only if it has the version seen; this includes a missing file.
func TestSeen(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "d.toml"), host(t, "b.test")
	if _, err := Write(path, Version([]byte(byPeople)), as(p, "later"), nil); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that is not there is changed: %v", err)
	}
	if _, err := Write(path, Version(nil), as(p, "later"), nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(path, Version(nil), as(p, "stub"), nil); !errors.Is(err, ErrChanged) {
		t.Errorf("another file is changed: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, text) {
		t.Errorf("the file holds %q, %v", now, err)
	}
	if _, err := Write(path, Version(text), as(p, "stub"), nil); err != nil {
		t.Errorf("the file that was seen: %v", err)
	}
}

// An unwritable folder and a name that is not a regular file are errors that change nothing.
func TestNoPlace(t *testing.T) {
	p := host(t, "b.test")
	if _, err := Write(t.TempDir(), "", as(p, "later"), nil); err == nil {
		t.Error("a folder was taken for a file")
	}
	_, err := Write(filepath.Join(t.TempDir(), "none", "d.toml"), "", as(p, "later"), nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "d.toml")
	if err := errors.Join(os.WriteFile(path, []byte("# x\n"), 0o600), os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(path, "", as(p, "later"), nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a read-only folder: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "# x\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

const envKilled = "RIPPLE_TEST_DECIDE"

// TestMain lets the test binary act as a writer that runs until it is killed.
func TestMain(m *testing.M) {
	path := os.Getenv(envKilled)
	if path == "" {
		os.Exit(m.Run())
	}
	p, _, err := scope.ParsePattern("b.test")
	for i := 0; err == nil; i++ {
		_, err = Write(path, "", as(p, config.DecidedClasses()[i%4]), nil)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A writer killed at any moment leaves the old file or the new one.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.toml")
	if err := os.WriteFile(path, []byte(byPeople), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envKilled+"="+path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(20+7*i)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		text, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(text, []byte(byPeople)) {
			t.Fatalf("after kill %d: %v\n%s", i, err, text)
		}
		if all, err := config.ParseDecisions(path, text); err != nil || len(all) > 3 {
			t.Fatalf("after kill %d: %d decisions, %v", i, len(all), err)
		}
	}
	p := host(t, "c.test")
	if _, err := Write(path, "", as(p, "later"), nil); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

// Editors' files next to an open file stay; leftovers of a kill are removed.
func TestBeside(t *testing.T) {
	dir, p := t.TempDir(), host(t, "b.test")
	for _, name := range []string{".d.toml.swp", ".d.toml.un~", ".d.toml.ripple-1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Write(filepath.Join(dir, "d.toml"), "", as(p, "later"), nil); err != nil {
		t.Fatal(err)
	}
	beside, err := os.ReadDir(dir)
	if err != nil || len(beside) != 3 || beside[0].Name() != ".d.toml.swp" || beside[1].Name() != ".d.toml.un~" {
		t.Errorf("the folder holds %v, %v", beside, err)
	}
}

// For any text, an edit keeps all other entries and comments, and repeating the edit changes nothing.
func FuzzApply(f *testing.F) {
	f.Add(byPeople)
	f.Add("")
	f.Add("# x\r\n[[decision]]\r\nhost = \"b.test\"\r\nclass = \"stub\"\r\n")
	f.Add("decision = [{host = \"b.test\", class = \"stub\"}]")
	f.Add("[[decision]]\nhost = \"a.test\"\nclass = \"stub\"\nnote = \"\"\"\n[[decision]]\nhost = 'b.test'\n\"\"\"\n")
	p, _, err := scope.ParsePattern("b.test")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := config.ParseDecisions("d", []byte(text))
		if err != nil {
			return
		}
		next, first, err := Apply("d", []byte(text), as(p, "later"), nil)
		if err != nil {
			return
		}
		after, err := config.ParseDecisions("d", next)
		if err != nil {
			t.Fatal(err)
		}
		others := func(all []config.Decision) (kept []string) {
			for i := range all {
				if all[i].Host != p {
					kept = append(kept, all[i].TOML())
				}
			}
			return kept
		}
		if diff := cmp.Diff(others(before), others(after)); diff != "" {
			t.Errorf("other entries: %s", diff)
		}
		if got, want := bytes.Count(next, []byte("#")), strings.Count(text, "#"); got != want {
			t.Errorf("%d signs of comments, were %d", got, want)
		}
		again, same, err := Apply("d", next, as(p, "later"), nil)
		if err != nil || !bytes.Equal(again, next) || same[0].After.TOML() != first[0].After.TOML() {
			t.Errorf("again: %v\n%s", err, cmp.Diff(string(next), string(again)))
		}
		undo := Change{p, func(*config.Decision) *config.Decision { return first[0].Before }}
		patch := between(next, []byte(text))
		if undone, _, err := Apply("d", next, []Change{undo}, &patch); err != nil || string(undone) != text {
			t.Errorf("undone: %v\n%s", err, cmp.Diff(text, string(undone)))
		}
	})
}
