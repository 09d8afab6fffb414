package answers_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/render"
)

// continued returns a cache that keeps its answers in a file.
func continued(t testing.TB, path, run string) *answers.Cache {
	t.Helper()
	c := answers.New("", 1000)
	if err := c.Continue(path, run); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func shut(t testing.TB, c *answers.Cache) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

var kept = []struct {
	of   render.Resource
	want render.Answer
}{
	{render.Resource{URL: "https://a.test/1"},
		render.Answer{Status: 200, Header: http.Header{"Etag": {"1", "2"}}, Body: []byte("one")}},
	{render.Resource{URL: "https://a.test/1", Accept: "text/csv"}, render.Answer{Status: 200, Body: []byte("a,b")}},
	{render.Resource{URL: "https://a.test/2"}, render.Answer{Status: 204}},
	{render.Resource{URL: "https://a.test/3"}, render.Answer{Refused: "timeout"}},
	{render.Resource{URL: "https://a.test/4"}, render.Answer{Status: 404, Body: bytes.Repeat([]byte("x"), 900)}},
}

// checkKept checks that the first n answers are known and no other.
func checkKept(t *testing.T, c *answers.Cache, n int) {
	t.Helper()
	for i, k := range kept {
		got, ok := c.Answer(render.Request{Method: http.MethodGet, Resource: k.of})
		if ok != (i < n) {
			t.Errorf("%+v is known: %t", k.of, ok)
		}
		if ok && (got.Status != k.want.Status || !bytes.Equal(got.Body, k.want.Body) || got.Refused != k.want.Refused ||
			!slices.Equal(got.Header["Etag"], k.want.Header["Etag"])) {
			t.Errorf("the answer to %+v is %+v, want %+v", k.of, got, k.want)
		}
	}
}

// Answers to requests outlive the process, and refusals of what was not requested do not. They end with the run.
func TestContinue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt.answers")
	c := continued(t, path, "run 1")
	never := render.Resource{URL: "https://a.test/never"}
	c.Refuse(never, "blacklist")
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file without an answer")
	}
	for _, k := range kept {
		c.Put(k.of, &k.want)
	}
	shut(t, c)
	c = continued(t, path, "run 1")
	checkKept(t, c, len(kept))
	if c.Has(never) {
		t.Error("a refusal without a request is kept")
	}
	c.Put(never, &render.Answer{Status: 200, Body: make([]byte, 200)}) // bodies kept earlier count
	if a, _ := c.Answer(render.Request{Method: http.MethodGet, Resource: never}); a.Refused != answers.Crowded {
		t.Errorf("beyond the limit: %+v", a)
	}
	shut(t, c)
	c = continued(t, path, "run 2")
	checkKept(t, c, 0)
	c.Put(kept[0].of, &kept[0].want)
	shut(t, c)
	c = continued(t, path, "run 2")
	checkKept(t, c, 1)
	if err := c.Forget(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is not removed")
	}
}

// A file that was cut or damaged gives the answers before that place, and those that come replace the rest.
func TestContinueDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt.answers")
	c := continued(t, path, "run 1")
	var ends []int
	for _, k := range kept {
		c.Put(k.of, &k.want)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(info.Size()))
	}
	shut(t, c)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(whole)
	flipped[ends[3]-1] ^= 1
	flippedBody := slices.Clone(whole)
	flippedBody[ends[0]-1] ^= 1
	zeros := slices.Clone(whole)
	clear(zeros[ends[1]:])
	for name, tt := range map[string]struct {
		text []byte
		want int
	}{
		"cut in a body": {whole[:ends[4]-1], 4}, "cut in lengths": {whole[:ends[2]+5], 3}, "cut in a head": {whole[:ends[2]+20], 3},
		"a head": {flipped, 3}, "a body": {flippedBody, 0}, "zeros": {zeros, 2}, "no line": {whole[:9], 0}, "nothing": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
			c := continued(t, path, "run 1")
			checkKept(t, c, tt.want)
			for _, k := range kept {
				c.Put(k.of, &k.want)
			}
			shut(t, c)
			checkKept(t, continued(t, path, "run 1"), len(kept))
		})
	}
}

// A file of somebody else's stays as it is.
func TestContinueInTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt.answers")
	if err := os.WriteFile(path, []byte("my answers\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := answers.New("", 1000)
	if err := c.Continue(path, "run 1"); err == nil {
		t.Error("it is used")
	}
	if err := answers.Remove(path); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "my answers\n" {
		t.Errorf("it is %q, %v", text, err)
	}
}

// Whatever a file contains, what is read from it can be written after it, and is read again.
func FuzzContinue(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	c := continued(f, path, "run 1")
	for _, k := range kept {
		c.Put(k.of, &k.want)
	}
	shut(f, c)
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)-1])
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "answers")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := answers.New("", 1<<20)
		if c.Continue(path, "run 1") != nil {
			return
		}
		first, _ := c.Answer(render.Request{Method: http.MethodGet, Resource: kept[0].of})
		added := render.Resource{URL: "https://a.test/added"}
		c.Put(added, &render.Answer{Status: 200, Body: []byte("added")})
		want, _ := c.Answer(render.Request{Method: http.MethodGet, Resource: added})
		shut(t, c)
		c = continued(t, path, "run 1")
		again, _ := c.Answer(render.Request{Method: http.MethodGet, Resource: kept[0].of})
		got, ok := c.Answer(render.Request{Method: http.MethodGet, Resource: added})
		if !bytes.Equal(first.Body, again.Body) || !ok || !bytes.Equal(got.Body, want.Body) || got.Refused != want.Refused {
			t.Errorf("read %q and %+v; then %q and %+v, %t", first.Body, want, again.Body, got, ok)
		}
	})
}
