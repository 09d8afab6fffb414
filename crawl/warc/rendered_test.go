package warc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func sealedRendered(t testing.TB, url, body, dom string, navigations ...string) *Sealed {
	t.Helper()
	p := testPage(url, body)
	p.Rendered = &Rendered{DOM: []byte(dom), Navigations: navigations}
	s, err := new(Sealer).Seal(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A rendered document follows the answer, even if the store already has the answer's body. It is found after
// a restart, with the old index or a rebuilt one.
func TestRendered(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Position{})
	first, err := w.Append(sealedRendered(t, "https://a.test/", "shell", "<p>one", "https://a.test/x",
		"https://b.test/"))
	if err != nil {
		t.Fatal(err)
	}
	plain := appended(t, w, "https://a.test/plain", "plain")
	second, err := w.Append(sealedRendered(t, "https://a.test/2", "shell", "<p>two"))
	if err != nil {
		t.Fatal(err)
	}
	at, err := w.Sync()
	if err != nil {
		t.Fatal(err)
	}
	look := func(how string) {
		t.Helper()
		r := NewReader(dir)
		got, err := r.Rendered(first)
		if err != nil || string(got.DOM) != "<p>one" ||
			!slices.Equal(got.Navigations, []string{"https://a.test/x", "https://b.test/"}) {
			t.Errorf("%s: %+v, %v", how, got, err)
		}
		if got, err = r.Rendered(second); err != nil || string(got.DOM) != "<p>two" || len(got.Navigations) > 0 {
			t.Errorf("%s: behind a revisit: %+v, %v", how, got, err)
		}
		if got, err = r.Rendered(plain); err == nil {
			t.Errorf("%s: a page that was not rendered has %q", how, got.DOM)
		}
		wantPage(t, dir, first, "https://a.test/", "shell")
		wantPage(t, dir, second, "https://a.test/2", "shell")
		wantPage(t, dir, plain, "https://a.test/plain", "plain")
	}
	look("while it is written")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, strings.TrimSuffix(strings.Split(first, "#")[0], segmentSuffix)+indexSuffix)
	stat, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, at)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	look("after a start")
	entries, end := readEntries(index, at.Offset)
	if len(entries) != 3 || end != at.Offset {
		t.Errorf("the index tells %d pages up to %d, want 3 up to %d", len(entries), end, at.Offset)
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, at).Close(); err != nil {
		t.Fatal(err)
	}
	look("with a new index")
	if made, err := os.Stat(index); err != nil || made.Size() != stat.Size() {
		t.Errorf("the recreated index differs: %v, %v", made, err)
	}
}

// An invalid record does not hide those after it from a rebuilt index.
func TestUnreadableIsPassed(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Position{})
	long := "https://a.test/?" + strings.Repeat("x", 2*maxHead)
	if _, err := w.Append(sealedRendered(t, "https://a.test/1", "shell", "<p>one", long)); err != nil {
		t.Fatal(err)
	}
	second := appended(t, w, "https://a.test/2", "plain")
	at, err := w.Sync()
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	indexes, err := filepath.Glob(filepath.Join(dir, "*.cdxj"))
	if err != nil || len(indexes) != 1 {
		t.Fatal(indexes, err)
	}
	if err := os.Remove(indexes[0]); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, at)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(indexes[0])
	if err != nil || strings.Count(string(text), "https://a.test/2\"") != 1 || strings.Count(string(text), "\n") != 2 {
		t.Errorf("the recreated index: %s, %v", text, err)
	}
	wantPage(t, dir, second, "https://a.test/2", "plain")
}
