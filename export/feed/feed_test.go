package feed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

func read(t *testing.T, w *surveytest.World, cursor uint64) *feed.Batch {
	t.Helper()
	b, err := feed.Read(w.Store, w.Config.Scope(), cursor, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLine(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[page-type]]\nname = \"odd\"\npath = '/odd'\n")
	w.Visit("a.test/", w.Links("a.test/odd", "b.test/"))
	w.Visit("a.test/odd", w.Redirect("a.test/"))
	b := read(t, w, 0)
	for b.More { // a batch ends after some time
		next := read(t, w, b.Next)
		b.Lines, b.Next, b.More = append(b.Lines, next.Lines...), next.Next, next.More
	}
	if len(b.Lines) != 2 || b.Next != 2 {
		t.Fatalf("%d lines, next %d", len(b.Lines), b.Next)
	}
	want := []string{
		`{"cursor":1,"run":1,"url":"https://a.test/","page_type":null,"depth":0,"referrer":null,"state":"processed",` +
			`"visited_at":"2026-01-15T10:30:01Z",` +
			`"metadata":{"status_code":200,"content_length":10,"latency_ms":30,"content_type":"text/html"},` +
			`"links":[{"url":"https://a.test/odd","kind":"anchor","place":"main","anchor":"to a.test/odd"},` +
			`{"url":"https://b.test/","kind":"anchor","place":"main","anchor":"to b.test/"}]}`,
		`{"cursor":2,"run":1,"url":"https://a.test/odd","page_type":"odd","depth":0,"referrer":"https://a.test/",` +
			`"state":"processed","visited_at":"2026-01-15T10:30:02Z",` +
			`"redirect_to":"https://a.test/","metadata":{"status_code":301,"content_length":10,"latency_ms":30,` +
			`"content_type":"text/html"},` +
			`"links":[{"url":"https://a.test/","kind":"redirect","place":""}]}`,
	}
	for i, line := range b.Lines {
		if string(line) != want[i] {
			t.Errorf("line %d is\n%s\nwant\n%s", i, line, want[i])
		}
	}
}

// TestAnswers: a wall is known at once, and a page that does not exist when the run can be judged.
func TestAnswers(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/gone", "a.test/1"))
	w.Visit("a.test/gone", func(v *schema.Visit) { v.Shown = 7 })
	w.Visit("a.test/1", func(v *schema.Visit) {
		v.State, v.Status, v.Reason = schema.Failed, 403, schema.Reason{Cause: schema.CauseChallenge, Detail: "Anubis"}
		v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, "anubis-challenge", 403
	})
	w.Host("a.test/", func(h *schema.Host) { h.Missing = schema.MissingProbe{Run: 1, Status: 200, Shown: 7} })
	wall := `"answer":"challenge","answer_rule":"anubis-challenge","answer_status_code":403,`
	for _, tt := range []struct {
		judge feed.Judge
		gone  string
	}{{nil, ""}, {w.Survey().AnswerTo, `"answer":"soft404","answer_rule":"missing-same",`}} {
		b, err := feed.Read(w.Store, w.Config.Scope(), 0, tt.judge)
		if err != nil || len(b.Lines) != 3 {
			t.Fatalf("%+v, %v", b, err)
		}
		for i, want := range []string{"", tt.gone, wall} {
			_, found, _ := strings.Cut(string(b.Lines[i]), `"answer"`)
			if found, _, _ = strings.Cut(found, `"metadata"`); found != strings.TrimPrefix(want, `"answer"`) {
				t.Errorf("line %d has the answer %q, want %q", i, found, want)
			}
		}
	}
}

// A visit whose links are taken from a visit of another page means a damaged file.
func TestLinksOfAnother(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/1"))
	w.Visit("a.test/1", func(v *schema.Visit) { v.Status, v.Stand = 304, 1 })
	if _, err := feed.Read(w.Store, w.Config.Scope(), 0, nil); !errors.Is(err, kv.ErrDamaged) {
		t.Error(err)
	}
}

// Even if JSON writes every byte of the links as six, no line exceeds the size of a reply.
func TestLongLine(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", func(v *schema.Visit) {
		for i := range 500 {
			to := w.Page(fmt.Sprintf("b.test/%d/%s", i, strings.Repeat("&", 1900)))
			v.Links = append(v.Links, schema.Link{To: to, Kinds: surveytest.Kinds(schema.LinkAnchor),
				Anchor: strings.Repeat("<", 100)})
		}
	})
	var l struct {
		Links   []struct{} `json:"links"`
		Omitted int        `json:"links_omitted"`
	}
	line := read(t, w, 0).Lines[0]
	if err := json.Unmarshal(line, &l); err != nil || len(line) > 5<<20 || len(l.Links)+l.Omitted != 500 {
		t.Errorf("%d bytes, %d links and %d omitted: %v", len(line), len(l.Links), l.Omitted, err)
	}
}

// TestEveryLineOnce reads with stops anywhere, while visits are added.
func TestEveryLineOnce(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	seen, cursor := map[string]int{}, uint64(0)
	long := func(v *schema.Visit) { // fills a batch with few lines
		for i := range 60 {
			to := w.Page(fmt.Sprintf("b.test/%d/%s", i, strings.Repeat("x", 1800)))
			v.Links = append(v.Links, schema.Link{To: to, Kinds: surveytest.Kinds(schema.LinkAnchor),
				Anchor: strings.Repeat("y", 100)})
		}
	}
	const pages = 90
	batches := 0
	for i := range pages {
		w.Visit(fmt.Sprintf("a.test/%d", i), long)
		if i%30 != 29 {
			continue
		}
		for more := true; more; batches++ {
			b := read(t, w, cursor)
			size := 0
			for j, line := range b.Lines {
				var l struct {
					Cursor uint64 `json:"cursor"`
					URL    string `json:"url"`
				}
				if err := json.Unmarshal(line, &l); err != nil {
					t.Fatal(err)
				}
				seen[l.URL]++
				size += len(line)
				if cursor = l.Cursor; j == 2 {
					break // killed: the next read continues after this line
				}
			}
			if more = b.More || len(b.Lines) > 3; size > 4<<20 {
				t.Errorf("a batch of %d bytes", size)
			}
			if len(b.Lines) == 0 {
				cursor = b.Next
			}
		}
	}
	if len(seen) != pages {
		t.Errorf("%d pages seen of %d", len(seen), pages)
	}
	for url, n := range seen {
		if n != 1 {
			t.Errorf("%s was seen %d times", url, n)
		}
	}
	if batches < pages/3 {
		t.Errorf("%d batches", batches)
	}
}

func TestCursorOfAnotherState(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	if _, err := feed.Read(w.Store, w.Config.Scope(), 2, nil); !errors.Is(err, feed.ErrCursor) {
		t.Errorf("Read = %v, want %v", err, feed.ErrCursor)
	}
	w.Update(func(tx *kv.Tx) error { return tx.Meta.Put(feed.MetaBase, []byte("10")) })
	w.Visit("a.test/x", nil)
	if b := read(t, w, 11); len(b.Lines) != 1 || b.Next != 12 {
		t.Errorf("after dropped visits: %d lines, next %d", len(b.Lines), b.Next)
	}
}

// The file claims an offset of the cursors so large that they wrap around to 0. A reader continuing
// from there would receive the first visits forever.
func TestCursorsBeyondAll(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i := range 5 {
		w.Visit(fmt.Sprint("a.test/", i), nil)
	}
	w.Update(func(tx *kv.Tx) error { return tx.Meta.Put(feed.MetaBase, []byte("18446744073709551612")) })
	if b, err := feed.Read(w.Store, w.Config.Scope(), 0, nil); !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("Read = %+v, %v", b, err)
	}
}

// A file with more cursors of early visits than visits is damaged. With fewer, each remaining visit has
// its regular cursor.
func TestCursorsOfEarlyVisits(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i := range 5 {
		w.Visit(fmt.Sprint("a.test/", i), nil)
	}
	early := func(bits ...byte) {
		w.Update(func(tx *kv.Tx) error {
			return errors.Join(tx.Meta.Put(feed.MetaBase, []byte("10")), tx.Meta.Put(feed.MetaEarly, bits))
		})
	}
	early(0x82, 0x01) // 2, 8 and 9
	all := []uint64{2, 8, 9, 14, 15}
	for since := range uint64(16) {
		want := slices.DeleteFunc(slices.Clone(all), func(c uint64) bool { return c <= since })
		if got := cursorsAfter(t, w, since); !slices.Equal(got, want) {
			t.Errorf("after %d: %v, want %v", since, got, want)
		}
	}
	b, err := feed.ReadBrief(w.Store, w.Config.Scope(), 1, 4, nil)
	if err != nil || b.Omitted != 1 || !strings.HasPrefix(string(b.Lines[0]), `{"cursor":8,`) {
		t.Errorf("the last four after 1: %+v, %v", b, err)
	}
	early(0x3f)
	if b, err := feed.Read(w.Store, w.Config.Scope(), 0, nil); !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("Read = %+v, %v", b, err)
	}
}

func cursorsAfter(t *testing.T, w *surveytest.World, since uint64) (all []uint64) {
	t.Helper()
	for more := true; more; {
		b := read(t, w, since)
		for _, text := range b.Lines {
			var l struct{ Cursor uint64 }
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatal(err)
			}
			all = append(all, l.Cursor)
		}
		since, more = b.Next, b.More
	}
	return all
}
