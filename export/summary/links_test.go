package summary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// The head names the run and version of the summary.
func TestHead(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("b.test/"))
	digest, err := survey.Digest(w.Survey())
	if err != nil {
		t.Fatal(err)
	}
	lines := told(t, w.Survey())
	for _, want := range []string{
		"**Configuration:** SHA-256 " + fmt.Sprintf("%x", w.Run.Config) + "  ", "**Digest:** SHA-256 " + digest + "  ",
		"**Version:** Sumi-Ripple v1.0  ",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing in\n%s", want, strings.Join(lines[:12], "\n"))
		}
	}
}

// Every cut host is named: the first openly, the others folded.
func TestCutHosts(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", nil)
	const hosts = 250
	for i := range hosts {
		name := fmt.Sprintf("h%03d.test/", i)
		w.Depth(name, 1, 0)
		w.Host(name, func(h *schema.Host) {
			h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}
		})
	}
	lines := told(t, w.Survey())
	fold := slices.Index(lines, "<details><summary>230 more domains</summary>")
	if fold < 0 || slices.Index(lines[fold:], "</details>") != 230+3 {
		t.Errorf("no fold of 230 lines in\n%s", strings.Join(lines, "\n"))
	}
	for i := range hosts {
		line := fmt.Sprintf("- h%03d.test: 0 pages, 1 missing (given up: connection refused)", i)
		if at := slices.Index(lines, line); at < 0 || (at < fold) != (i < 20) {
			t.Errorf("%q stands at line %d; the fold begins at %d", line, at, fold)
		}
	}
}

// A summary names the broken targets that most pages link to, the first links of each origin, and how to see all.
func TestBrokenLinks(t *testing.T) {
	w := surveytest.New(t, lists)
	var dead []string
	for i := range 150 {
		dead = append(dead, fmt.Sprintf("dead.test/%03d", i))
	}
	w.Visit("a.test/", w.Links(dead...))
	w.Visit("b.test/", w.Links(dead[0]))
	for _, name := range dead {
		w.Visit(name, func(v *schema.Visit) {
			v.State, v.Status, v.Reason = schema.DeadLink, 404, schema.StatusReason(404)
		})
	}
	s := w.Survey()
	links, _, err := broken.Find(s)
	if err != nil || len(links) != 151 {
		t.Fatalf("%d links, %v", len(links), err)
	}
	lines := told(t, s)
	for i, l := range links {
		row := "| " + strings.Join([]string{l.From, l.Link.Anchor, l.To, l.Why}, " | ") + " |"
		if there := slices.Contains(lines, row); there != (i < 5 || i == 150) {
			t.Errorf("%q is told: %t", row, there)
		}
	}
	for _, want := range []string{
		`151 links lead nowhere, to 150 targets; "ripple broken" lists them all.`, "### a.test (150 links)",
		"### Other Pages (1 link)", "| https://dead.test/000 | 2 | 404 Not Found |", "| https://dead.test/019 | 1 | 404 Not Found |",
		"*(130 more targets)*", "*(145 more)*", "| 404 Not Found | 150 |",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing", want)
		}
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	past, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(told(t, past), "151 links lead nowhere, to 150 targets.") {
		t.Error("of an older run: who lists all is not told, or wrong")
	}
}

// The broken links of many origins with long URLs do not make a summary long.
func TestBrokenLinksAreFew(t *testing.T) {
	text := surveytest.Minimal
	for i := range 60 {
		text += fmt.Sprintf("[[quality]]\ndomain = \"o%02d.test\"\nseeds = [\"https://o%02d.test/\"]\n", i, i)
	}
	w := surveytest.New(t, text)
	long := strings.Repeat("x", 1500)
	for i := range 60 {
		var dead []string
		for n := range 40 {
			dead = append(dead, fmt.Sprintf("o%02d.test/%d/%s", i, n, long))
		}
		w.Visit(fmt.Sprintf("o%02d.test/", i), w.Links(dead...))
		for _, name := range dead {
			w.Visit(name, func(v *schema.Visit) {
				v.State, v.Status, v.Reason = schema.DeadLink, 404, schema.StatusReason(404)
			})
		}
	}
	lines := told(t, w.Survey())
	size := 0
	from := slices.Index(lines, "## Broken Links")
	for _, line := range lines[from+1:] {
		if strings.HasPrefix(line, "## ") {
			break
		}
		size += len(line) + 1
	}
	if from < 0 || size > 80_000 || !slices.Contains(lines, "*(40 more origins with broken links)*") {
		t.Errorf("the broken links take %d bytes", size)
	}
}

// If a matrix would be too wide, pairs are listed.
func TestManyOrigins(t *testing.T) {
	text := surveytest.Minimal
	for i := range 25 {
		text += fmt.Sprintf("[[quality]]\ndomain = \"o%02d.test\"\nseeds = [\"https://o%02d.test/\"]\n", i, i)
	}
	w := surveytest.New(t, text)
	w.Visit("a.test/", w.Links("o03.test/", "a.test/x", "b.test/"))
	w.Visit("o07.test/", w.Links("o03.test/", "a.test/", "a.test/x"))
	lines := told(t, w.Survey())
	at := slices.Index(lines, "| From | To | Links |")
	want := []string{"| o07.test | a.test | 2 |", "| a.test | o03.test | 1 |", "| o07.test | o03.test | 1 |", ""}
	if at < 0 || !slices.Equal(lines[at+2:at+6], want) {
		t.Errorf("pairs at line %d: %q", at, lines[at+2:at+6])
	}
}

// Only links in the text count, not navigation, redirects or site-wide links.
func TestEndorsements(t *testing.T) {
	w := surveytest.New(t, lists)
	for i := range 12 {
		w.Visit(fmt.Sprintf("a.test/%d", i), w.Links("vendor.test/", "a.test/"))
	}
	w.Visit("a.test/", func(v *schema.Visit) {
		w.Links("b.test/", "nav.test/", "bad.test/x")(v)
		v.Links[1].Place = schema.PlaceNav
	})
	w.Visit("q.test/", w.Links("b.test/", "x.q.test/"))
	w.Visit("x.q.test/", w.Redirect("c.test/"))
	lines := told(t, w.Survey())
	at := slices.Index(lines, "| Domain | Class | Origins | Trust | Links | Coverage |")
	want := []string{"| b.test | discovered | 2 | 0.2595 | 2 | not visited |", ""}
	if got := lines[at+2 : at+4]; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// Links on pages that have disappeared or been blacklisted do not count.
func TestCitationsSilenced(t *testing.T) {
	w := surveytest.New(t, lists+"[[blacklist]]\nurl = '^https://a.test/ads'\n")
	w.Visit("a.test/", w.Links("a.test/gone"))
	w.Visit("a.test/gone", w.Links("b.test/", "left.test/"))
	finish(w)
	w.Begin()
	w.Visit("a.test/", w.Links("b.test/"))
	w.Visit("a.test/ads", w.Links("b.test/", "listed.test/"))
	finish(w)
	lines := told(t, w.Survey())
	for head, want := range map[string]string{
		"| Domain | Class | Origins | Trust | Links | Coverage |":   "| b.test | discovered | 1 | 0.3063 | 1 | not visited |",
		"| URL | Title | Origins | From Other Domains | Links In |": "| https://b.test/ |  | 1 | 1 | 1 |",
	} {
		at := slices.Index(lines, head)
		if at < 0 || !slices.Equal(lines[at+2:at+4], []string{want, ""}) {
			t.Errorf("%q stands at %d, with %q; want %q", head, at, lines[at+2:at+4], want)
		}
	}
}

// Near-duplicates are counted, and hosts whose front page is another one than before are listed with both.
func TestChanges(t *testing.T) {
	w := surveytest.New(t, lists)
	for run, title := range []string{"The Bakery", "Casino | Win"} {
		if run > 0 {
			w.Begin()
		}
		for name, hash := range map[string]schema.SimHash{"a.test/": 0xff00, "a.test/1": 0xff01, "b.test/": 0xff << (30 + 9*run)} {
			w.Depth(name, 0, 0)
			w.Visit(name, func(v *schema.Visit) {
				v.Charset, v.SimHash = "utf-8", hash
				if v.Title = "The Valley"; name == "b.test/" {
					v.Title = title
				}
			})
		}
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	}
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Pages That Nearly Repeat Another | 1 |", "### Domains That Have Likely Changed Hands",
		`- b.test (run #1: The Bakery; run #2: Casino \| Win)`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("the summary lacks %q:\n%s", want, b.String())
		}
	}
}
