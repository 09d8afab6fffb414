package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// instead makes a terrain whose front page links to a page, to one that does not exist, to one that was not visited, and
// to n walls.
func instead(t *testing.T, n int) *surveytest.World {
	w := surveytest.New(t, surveytest.Minimal)
	names := []string{"a.test/page", "a.test/gone", "b.test/later", "c.test/"}
	for i := range n {
		names = append(names, fmt.Sprintf("walled.test/%d", i))
	}
	w.Visit("a.test/", w.Links(names...))
	w.Visit("a.test/page", nil)
	w.Visit("a.test/gone", func(v *schema.Visit) { v.Shown = 7 })
	w.Visit("c.test/", func(v *schema.Visit) { v.Title = "c.test is for sale" })
	for _, name := range names[4:] {
		w.Visit(name, func(v *schema.Visit) {
			v.State, v.Status, v.Reason = schema.Failed, 403, schema.Reason{Cause: schema.CauseChallenge}
			v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, "anubis-challenge", 403
		})
	}
	w.Host("a.test/", func(h *schema.Host) { h.Missing = schema.MissingProbe{Run: 1, Status: 200, Shown: 7} })
	return w
}

// TestPagesByAnswer lists pages by what came instead of them.
func TestPagesByAnswer(t *testing.T) {
	w := instead(t, 2)
	table := newPageTable(w.Survey(), w.Store)
	for answer, want := range map[string][]string{
		"page": {"https://a.test/", "https://a.test/page"}, "soft404": {"https://a.test/gone"},
		"challenge": {"https://walled.test/0", "https://walled.test/1"}, "parked": {"https://c.test/"},
	} {
		var got []string
		for _, row := range listed(t, table, "columns=url&sort=url&answer="+answer).Rows {
			got = append(got, row[0].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}

// TestBrokenHasRoomForWalls: broken links leave room for those to walls, however many there are.
func TestBrokenHasRoomForWalls(t *testing.T) {
	w := instead(t, 5)
	o := &opened{Inspector: answer.Inspector{State: &statefile.State{Survey: w.Survey(), Store: w.Store}}}
	for limit, want := range map[string]string{"1": "map[challenge:1 soft404:1]", "3": "map[challenge:3 soft404:1]"} {
		route := desk.Route{Params: brokenParams("links", 10), Path: "broken"}
		q, err := route.Parse(&http.Request{URL: &url.URL{RawQuery: "limit=" + limit}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := o.answerBroken(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		var links []answer.BrokenLink
		if err := found.(desk.Stream)(&text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text.Bytes(), &links); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, l := range links {
			got[*l.Answer]++
		}
		if fmt.Sprint(got) != want {
			t.Errorf("limit %s: %v, want %s", limit, got, want)
		}
	}
}

// TestFeedOfFileSaysAnswers: without a crawl, visits say everything that came instead of pages.
func TestFeedOfFileSaysAnswers(t *testing.T) {
	w := instead(t, 1)
	o := &opened{Inspector: answer.Inspector{State: &statefile.State{Survey: w.Survey(), Store: w.Store}}}
	want := map[string]string{
		"https://a.test/": "", "https://a.test/page": "", "https://a.test/gone": "soft404", "https://c.test/": "parked",
		"https://walled.test/0": "challenge",
	}
	for _, query := range []string{"since=0", "since=0&brief=true", "since=0&last=9"} {
		route := desk.Route{Params: feedParams(), Path: "feed"}
		q, err := route.Parse(&http.Request{URL: &url.URL{RawQuery: query}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := o.answerFeed(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, text := range found.(*feed.Batch).Lines {
			var line struct{ URL, Answer string }
			if err := json.Unmarshal(text, &line); err != nil {
				t.Fatal(err)
			}
			got[line.URL] = line.Answer
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}
