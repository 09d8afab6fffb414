package kv_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// begin makes a file list its openings.
func begin(t testing.TB, s *kv.Store) (o schema.Opening) {
	t.Helper()
	update(t, s, func(tx *kv.Tx) (err error) { o, err = tx.Openings.Begin(); return err })
	return o
}

func idle(*kv.Tx) error { return nil }

func lastOpening(t testing.TB, s *kv.Store) (o schema.Opening) {
	t.Helper()
	view(t, s, func(tx *kv.Tx) (err error) { o, err = tx.Openings.Last(); return err })
	return o
}

func contains(t testing.TB, s *kv.Store, o schema.Opening, commit uint64) (ok bool) {
	t.Helper()
	view(t, s, func(tx *kv.Tx) (err error) { ok, err = tx.Openings.Contains(o, commit); return err })
	return ok
}

// A file lists no openings until requested.
func TestNoOpenings(t *testing.T) {
	path := wholeFile(t)
	for range 2 {
		s := openStore(t, path)
		update(t, s, idle)
		if o := lastOpening(t, s); o != (schema.Opening{}) {
			t.Errorf("opening %x", o)
		}
		if contains(t, s, schema.Opening{}, s.LastCommit()) {
			t.Error("it contains the zero opening")
		}
		s.Close()
	}
	kv.EachRaw(path, func(_ string, key, _ []byte) {
		if len(key) > 7 && string(key[:7]) == "opening" {
			t.Errorf("key %q", key)
		}
	})
}

func TestOpeningReadOnly(t *testing.T) {
	s := openStore(t, wholeFile(t))
	view(t, s, func(tx *kv.Tx) error {
		if _, err := tx.Openings.Begin(); err == nil {
			t.Error("a view begins an opening")
		}
		return nil
	})
}

// Begin returns the same opening while the store is open, and opening a file for reading adds none.
func TestOpeningStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	update(t, s, idle)
	o := begin(t, s)
	update(t, s, idle)
	if again := begin(t, s); again != o {
		t.Errorf("opening %x, then %x", o, again)
	}
	for commit, want := range map[uint64]bool{0: false, 1: false, 2: true, 4: true, 5: false, 1<<64 - 1: false} {
		if got := contains(t, s, o, commit); got != want {
			t.Errorf("Contains(%d) = %t", commit, got)
		}
	}
	s.Close()
	if last := lastOpening(t, scaletest.Open(t, path)); last != o {
		t.Errorf("opening %x is read as %x", o, last)
	}
}

// A historyFile models the history of a file: the contents that its commits left, each identified by an
// opening and a commit.
type historyFile struct {
	path    string
	commits map[string]bool // opening and commit of each content
}

// Files that are copied, pruned, compacted, restored and written to independently contain exactly the commits
// of their own history.
func TestOpeningsTellFilesApart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		first := historyFile{filepath.Join(dir, "0.db"), map[string]bool{}}
		s := openFast(t, first.path)
		update(t, s, func(tx *kv.Tx) error {
			if err := tx.Runs.PutConfig([32]byte{1}, []byte("c")); err != nil {
				return err
			}
			return tx.Runs.Put(schema.Run{ID: 1, Config: [32]byte{1}, FirstVisit: 1})
		})
		first.note(t, s, begin(t, s))
		s.Close()
		files := []historyFile{first}
		all := map[string]int{} // number of files with it in their history
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			f := files[rapid.IntRange(0, len(files)-1).Draw(r, "file")]
			if rapid.Bool().Draw(r, "copied") {
				f = f.copied(t, filepath.Join(dir, fmt.Sprintf("%d.db", len(files))), rapid.IntRange(0, 2).Draw(r, "how"))
				files = append(files, f)
			}
			f.write(t, rapid.IntRange(1, 3).Draw(r, "commits"))
		}
		for _, f := range files {
			for c := range f.commits {
				all[c]++
			}
		}
		for _, f := range files {
			f.compare(t, all)
		}
	})
}

func openFast(t testing.TB, path string) *kv.Store {
	t.Helper()
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.FastForTests()
	return s
}

func (f historyFile) note(t *testing.T, s *kv.Store, o schema.Opening) {
	f.commits[fmt.Sprintf("%x %d", o, s.LastCommit())] = true
}

// write opens the file, like a crawl or any command, and commits.
func (f historyFile) write(t *testing.T, commits int) {
	t.Helper()
	s := openFast(t, f.path)
	defer s.Close()
	was := s.LastCommit()
	for range commits {
		update(t, s, idle)
		f.note(t, s, lastOpening(t, s))
	}
	if s.LastCommit() != was+uint64(commits) {
		t.Errorf("commit %d follows %d", s.LastCommit(), was)
	}
}

func (f historyFile) copied(t *testing.T, path string, how int) historyFile {
	t.Helper()
	was := uint64(0)
	switch how {
	case 0:
		if err := duplicate(f.path, path); err != nil {
			t.Fatal(err)
		}
	case 1:
		if err := kv.Compact(f.path, path); err != nil {
			t.Fatal(err)
		}
	case 2:
		s := openFast(t, f.path)
		was = s.LastCommit()
		if _, err := s.Prune(t.Context(), path, 1); err != nil {
			t.Fatal(err)
		}
		s.Close()
		next := openFast(t, path)
		if next.LastCommit() < was {
			t.Errorf("pruned: commit %d, was %d", next.LastCommit(), was)
		}
		next.Close()
	}
	commits := map[string]bool{}
	for c := range f.commits {
		commits[c] = true
	}
	return historyFile{path, commits}
}

func (f historyFile) compare(t *testing.T, all map[string]int) {
	t.Helper()
	s := openFast(t, f.path)
	defer s.Close()
	for text := range all {
		var hex []byte
		var commit uint64
		if _, err := fmt.Sscanf(text, "%x %d", &hex, &commit); err != nil {
			t.Fatal(err)
		}
		if got := contains(t, s, schema.Opening(hex), commit); got != f.commits[text] {
			t.Errorf("%s: Contains(%s) = %t", filepath.Base(f.path), text, got)
		}
	}
}

// Damage to an opening is detected.
func TestDamagedOpening(t *testing.T) {
	for name, v := range map[string]struct {
		key    string
		fields []byte
	}{
		"too short":      {"opening/\x00\x00\x00\x00\x00\x00\x00\x02", make([]byte, 15)},
		"odd key":        {"opening/\x00", make([]byte, 16)},
		"not yet come":   {"opening/\x00\x00\x00\x00\x00\x00\x00\x09", make([]byte, 16)},
		"before a start": {"opening/\x00\x00\x00\x00\x00\x00\x00\x00", make([]byte, 16)},
	} {
		path := filepath.Join(t.TempDir(), "state.db")
		s := openUnchecked(t, path)
		begin(t, s)
		update(t, s, idle)
		s.Close()
		if err := kv.WriteRaw(path, "meta", []byte(v.key), kv.Seal("meta", []byte(v.key), v.fields)); err != nil {
			t.Fatal(err)
		}
		problems := 0
		if err := kv.Check(path, func(string) { problems++ }); err != nil || problems == 0 {
			t.Errorf("%s: %d problems, %v", name, problems, err)
		}
	}
}
