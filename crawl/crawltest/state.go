package crawltest

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// Problems checks the structure and the meaning of a state file and returns what is wrong with it.
func Problems(t testing.TB, path string) (found []string) {
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
		err = survey.Check(s, note)
	}
	if err != nil {
		note(err.Error())
	}
	return found
}

// Verify fails the test for each of a state file's [Problems].
func Verify(t testing.TB, path string) {
	t.Helper()
	for _, problem := range Problems(t, path) {
		t.Error(problem)
	}
}

// Survey returns the survey of a store's last run.
func Survey(t testing.TB, store *kv.Store) *survey.Survey {
	t.Helper()
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Surveyed calls f with the survey of a state file, and closes the file afterwards.
func Surveyed(t testing.TB, path string, f func(*survey.Survey) error) {
	t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := f(Survey(t, store)); err != nil {
		t.Fatal(err)
	}
}

// View calls f in a read transaction of a state file, and closes the file afterwards.
func View(t testing.TB, path string, f func(*kv.Store, *kv.Tx) error) {
	t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.View(func(tx *kv.Tx) error { return f(store, tx) }); err != nil {
		t.Fatal(err)
	}
}

// Digest returns the digest of the map in a state file.
func Digest(t testing.TB, path string) (digest string) {
	t.Helper()
	Surveyed(t, path, func(s *survey.Survey) (err error) {
		digest, err = survey.Digest(s)
		return err
	})
	return digest
}

// EachPage calls f for every page of a state file.
func EachPage(t testing.TB, path string, f func(*survey.Page)) {
	t.Helper()
	Surveyed(t, path, func(s *survey.Survey) error {
		return s.EachPage(func(p *survey.Page) error { f(p); return nil })
	})
}

// EachHost calls f for every host of a state file.
func EachHost(t testing.TB, path string, f func(*survey.HostReport)) {
	t.Helper()
	Surveyed(t, path, func(s *survey.Survey) error {
		return s.Hosts.Each(func(r *survey.HostReport) error { f(r); return nil })
	})
}
