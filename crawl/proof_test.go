package crawl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// full reports whether proofs are wanted in their long form.
func full() bool { return os.Getenv("RIPPLE_PROOF") == "full" }

// verify looks a state file through, its structure and its meaning, and fails the
// test for every problem.
func verify(t testing.TB, path string) {
	t.Helper()
	for _, problem := range problems(t, path) {
		t.Error(problem)
	}
}

func problems(t testing.TB, path string) (found []string) {
	t.Helper()
	note := func(problem string) { found = append(found, problem) }
	if err := kv.Check(path, note); err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return append(found, err.Error())
	}
	defer store.Close()
	s, err := survey.New(store)
	if err == nil {
		err = s.Check(note)
	}
	if err != nil {
		note(err.Error())
	}
	return found
}

// webConfig writes a configuration for a crawl of a server's web, with the state
// beside it, and returns both names.
func webConfig(t testing.TB, s *webtest.Server, text string) (path, state string) {
	t.Helper()
	dir := t.TempDir()
	ca, err := s.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, state = filepath.Join(dir, "config.toml"), filepath.Join(dir, "state.bolt")
	text += fmt.Sprintf("[state]\npath = %q\n[network]\nca-file = %q\nconnect-to = { \"*.test\" = %q }\n", state, ca, s.Addr())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, state
}

// surveyed has f read a state file, which is closed when it returns.
func surveyed(t testing.TB, path string, f func(*survey.Survey) error) {
	t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := survey.New(store)
	if err == nil {
		err = f(s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func digestOf(t testing.TB, path string) (digest string) {
	t.Helper()
	surveyed(t, path, func(s *survey.Survey) (err error) {
		digest, err = s.Digest()
		return err
	})
	return digest
}

// eachPage calls f for every page of a state file.
func eachPage(t testing.TB, path string, f func(*survey.Page)) {
	t.Helper()
	surveyed(t, path, func(s *survey.Survey) error {
		return s.EachPage(func(p *survey.Page) error { f(p); return nil })
	})
}
