package crawl_test

import (
	"os"
	"testing"

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

func digestOf(t testing.TB, path string) string {
	t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// eachPage calls f for every page of a state file.
func eachPage(t testing.TB, path string, f func(*survey.Page)) {
	t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := survey.New(store)
	if err == nil {
		err = s.EachPage(func(p *survey.Page) error { f(p); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
}
