package summary_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

var update = flag.Bool("update", false, "write the golden files")

const lists = surveytest.Minimal + `[[quality]]
domain = "*.q.test"
seeds = ["https://q.test/", "https://moved.q.test/"]
[[blacklist]]
domain = "bad.test"
[[stub]]
domain = "stub.test"
`

// golden compares a summary with a file.
func golden(t *testing.T, w *surveytest.World, name string) {
	t.Helper()
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	got := regexp.MustCompile("[0-9a-f]{64}").ReplaceAllString(b.String(), "...") // new keys change them
	got = regexp.MustCompile(`(missing|parked) 20[0-9-]{8}(-[0-9a-f]{8})?`).ReplaceAllString(got, "$1 ...")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestComplete is a terrain that was crawled completely.
func TestComplete(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("b.test/", "bad.test/x", "bad.test/y", "stub.test/o/r"))
	w.Visit("q.test/", w.Links("bad.test/x", "a.test/", "b.test/2"))
	w.Visit("moved.q.test/", w.Redirect("q.test/"))
	w.Depth("b.test/", 1, 0)
	w.Visit("b.test/", w.Links("b.test/2", "c.test/"))
	w.Depth("b.test/2", 2, 0)
	w.Visit("b.test/2", w.Links("a.test/"))
	w.Depth("c.test/", 4, 0)
	finish(w)
	golden(t, w, "complete.md")
}

func finish(w *surveytest.World) {
	w.Change(func(r *schema.Run) {
		r.Status, r.End, r.Finished = schema.RunCompleted, schema.End{Kind: schema.EndFrontier}, w.At
		r.Running = 4*time.Hour + 15*time.Minute + 23*time.Second
	})
}

// Rendered pages are counted: complete ones, partial ones, failed ones, and one that likely needs
// rendering. Rows with 0 are omitted.
func TestRendered(t *testing.T) {
	w := surveytest.New(t, lists)
	for name, how := range map[string]schema.Rendering{
		"a.test/": schema.Rendered, "a.test/1": schema.Rendered | schema.RenderDenied,
		"a.test/2": schema.Rendered | schema.RenderCut, "a.test/3": schema.RenderFailed,
		"a.test/4": schema.RenderTooLarge, "a.test/5": 0,
		"a.test/8": schema.RenderTimedOut, "a.test/9": schema.RenderTimedOut | schema.RenderOnce,
		"a.test/10": schema.Rendered | schema.RenderBudget, "a.test/11": schema.RenderBudget,
		"a.test/6": schema.Rendered | schema.RenderEmpty, "a.test/7": schema.Rendered,
	} {
		w.Depth(name, 0, 0)
		w.Visit(name, func(v *schema.Visit) {
			v.Rendering, v.Shell = how, schema.ShellMount
			if name == "a.test/7" {
				v.Refusals[schema.RefusedPost] = 2
			}
		})
	}
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Pages Rendered | 6 |", "| Pages Rendered without Some of What Their Scripts Asked For | 4 |",
		"| Pages Whose Rendering a Budget Cut | 2 |",
		"| Pages Rendered and Still Empty | 1 |",
		"| Pages Recorded as Fetched because Rendering Failed | 5 |", "| Pages Whose Scripts Ran Out of Time | 2 |",
		"| Pages Rendered in Vain and Not Again, since Others of the Host Ran Out of Time | 1 |",
		"| Pages That Likely Need Scripts | 6 |",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("the summary lacks %q", want)
		}
	}
}

// Answers that were no pages are counted by their rule, and by their own status. Those that are kept
// from an earlier run count too, as in every count of pages visited.
func TestNoPages(t *testing.T) {
	w := surveytest.New(t, lists)
	for name, change := range map[string]func(*schema.Visit){
		"a.test/":  nil,
		"a.test/1": func(v *schema.Visit) { v.AnswerRule = "anubis-challenge" },
		"a.test/2": func(v *schema.Visit) { v.AnswerRule, v.AnswerStatus = "cloudflare-header", 403 },
		"a.test/3": func(v *schema.Visit) { v.AnswerRule, v.AnswerStatus = "cloudflare-header", 403 },
		"a.test/4": func(v *schema.Visit) { v.AnswerRule, v.Kept, v.Requests = "cloudflare-header", true, 0 },
	} {
		w.Depth(name, 0, 0)
		w.Visit(name, func(v *schema.Visit) {
			if change != nil {
				v.Answer, v.AnswerStatus = schema.AnswerChallenge, 200
				change(v)
			}
		})
	}
	for i := range 10 {
		name := fmt.Sprintf("wall.test/%d", i)
		w.Depth(name, 1, 0)
		w.Visit(name, func(v *schema.Visit) { v.Charset, v.WordCount, v.Shown = "utf-8", 30, 7 })
	}
	w.Host("wall.test", func(h *schema.Host) { h.Visits = 10 })
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### Domains Whose Pages Are Likely a Wall", "- wall.test (10 pages, nearly all with the same few words)",
		"### Answers That Were No Pages", "| challenge | anubis-challenge | 1 |", "| challenge | cloudflare-header | 3 |",
		"| 200 OK | 13 |", "| 403 Forbidden | 2 |",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("the summary lacks %q:\n%s", want, b.String())
		}
	}
}

// The summary counts the pages with preferences, by what they say about training.
func TestPreferences(t *testing.T) {
	w := surveytest.New(t, lists)
	for name, said := range map[string]string{
		"a.test/":  "",
		"a.test/1": "robots.txt: Content-Usage: train-ai=n",
		"a.test/2": "header: Content-Signal: ai-train=no",
		"a.test/3": "header: Content-Usage: train-ai=y",
		"a.test/4": "element: License: https://l.test/",
	} {
		w.Depth(name, 0, 0)
		w.Visit(name, func(v *schema.Visit) { v.Preferences = said })
	}
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	want := "apply to 4 pages that were read: on 2 they refuse the training of models, on 1 they permit it, and on 1 they"
	if !strings.Contains(b.String(), want) {
		t.Errorf("the summary lacks %q:\n%s", want, b.String())
	}
}

// TestPartial has a host for every way in which a map can be incomplete.
func TestPartial(t *testing.T) {
	w := surveytest.New(t, "[crawler]\nmax-domain-requests = 5\n"+lists)
	w.Visit("a.test/", w.Links("www2.a.test/", "www2.a.test/x", "www2.a.test/y", "late.test/", "script.test/1",
		"script.test/2"))
	for _, name := range []string{"a.test/1", "a.test/2", "a.test/3"} {
		w.Depth(name, 0, 0)
	}
	w.Host("a.test/", func(h *schema.Host) { h.RunRequests, h.Requests = 5, 5 })
	w.Visit("moved.q.test/", w.Redirect("elsewhere.test/"))
	w.Visit("q.test/", nil)

	depth := func(names ...string) {
		for _, name := range names {
			w.Depth(name, 1, 0)
		}
	}
	depth("www2.a.test/", "script.test/1", "script.test/2", "slow.test/", "rest.test/", "gone.test/", "given.test/",
		"deny.test/x", "block.test/", "trap.test/", "trap.test/a/a/a/a", "late.test/", "elsewhere.test/")
	w.Visit("script.test/1", nil)
	w.Visit("script.test/2", nil)
	w.Host("slow.test/", func(h *schema.Host) { h.CrawlDelay = time.Hour })
	w.Host("rest.test/", func(h *schema.Host) {
		h.Throttles, h.RunThrottles, h.RunRequests, h.SuspendedTo = 1, 1, 3, w.At
	})
	w.Host("gone.test/", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}
	})
	w.Host("given.test/", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = schema.GaveUpRateLimit, 1045,
			schema.Reason{Cause: schema.CauseRateLimits}
	})
	w.Visit("deny.test/x", func(v *schema.Visit) {
		v.State, v.Status, v.Requests, v.Charset = schema.Failed, 0, 0, ""
		v.Reason.Cause = schema.CauseDenied
	})
	w.Visit("block.test/", func(v *schema.Visit) {
		v.State, v.Status, v.Charset, v.Reason = schema.Failed, 403, "", schema.StatusReason(403)
	})
	w.Visit("trap.test/", w.Links("a.test/"))
	w.Change(func(r *schema.Run) {
		r.Status, r.End, r.Running = schema.RunInterrupted, schema.End{Kind: schema.EndMaxRunTime, After: time.Hour},
			time.Hour
		r.Errors = map[string]int{"dead_link": 89, "rate_limited": 12, "connection_refused": 1023, "timeout": 18,
			"robots_denied": 8, "tls_error": 4, "dns_failure": 5, "server_error": 5, "connection_reset": 0, "other": 6}
	})
	golden(t, w, "partial.md")
}

// In TestHostile a peer supplies every text on the page.
func TestHostile(t *testing.T) {
	w := surveytest.New(t, lists)
	const hostile = "bad.test/](javascript:alert(1))|`<script>alert(1)</script>|*_#&amp;"
	w.Visit("a.test/", func(v *schema.Visit) {
		w.Links(hostile, "bad.test/"+strings.Repeat("x", 900), "bad.test/\x1b[31m\u202e\r\n\n# Forged", "q.test/")(v)
		w.Links("evil.test/")(v)
		v.Links[len(v.Links)-1].Anchor = "x](javascript:alert(1)) | </details><script>"
	})
	w.Visit("q.test/", func(v *schema.Visit) { v.Title = "</td> | [x](http://e.test/) <b>\n# Forged" })
	w.Depth("evil.test/", 1, 0)
	w.Host("evil.test/", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy.Detail = schema.GaveUpConnection,
			"x\n---\n# Forged ![i](http://e.test/i.png) <img src=x onerror=y> | \x1b]0;x\x07"
	})
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, bad := range []string{"<", "\x1b", "\u202e", "\r", "](", "\n# F", "\x07", " `", "![i"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q stands in\n%s", bad, got)
		}
	}
	columns := 0
	for _, line := range strings.Split(got, "\n") {
		bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if strings.HasPrefix(line, "|-") {
			columns = bars
		} else if strings.HasPrefix(line, "| https") && bars != columns {
			t.Errorf("a row of other than %d cells: %s", columns-1, line)
		}
		if len(line) > 1500 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// TestSecondRun shows both runs until the second is completed.
func TestSecondRun(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("a.test/x"))
	w.Visit("a.test/x", nil)
	finish(w)
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/x"))
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(),
		"Run 2 is not completed: what it has not reached yet is shown as run 1 (2026-01-15T10:30:00Z) left it.") {
		t.Errorf("the first run is not named:\n%s", b.String())
	}
	w.Update(func(tx *kv.Tx) error { return nil })
}

// In TestStands the second run reaches a page of the first but has no visit left for it. The summary
// reports its domain as the database does.
func TestStands(t *testing.T) {
	w := surveytest.New(t, "[crawler]\nmax-pages = 2\n"+lists)
	w.Visit("a.test/", w.Links("far.test/x"))
	w.Depth("far.test/x", 1, 0)
	w.Visit("far.test/x", func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
	finish(w)
	w.Begin()
	w.Visit("a.test/", w.Links("far.test/x"))
	w.Depth("far.test/x", 1, 0)
	w.Change(func(r *schema.Run) { r.Pages = 2 })
	finish(w)
	if lines := told(t, w.Survey()); !slices.Contains(lines, "| not visited | 1 |") {
		t.Errorf("far.test is not told as not visited:\n%s", strings.Join(lines, "\n"))
	}
}

// In TestVanished the second run does not find a stub, a blacklisted URL and a link of the first. The
// summary of the first run includes them, that of the second does not.
func TestVanished(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("bad.test/x", "bad.test/y", "stub.test/o/r", "stub.test/o/s"))
	for _, name := range []string{"bad.test/x", "bad.test/y", "stub.test/o/r", "stub.test/o/s"} {
		w.Depth(name, 1, 0)
	}
	w.Visit("b.test/", w.Links("a.test/"))
	finish(w)
	w.Begin()
	w.Visit("a.test/", w.Links("bad.test/y", "stub.test/o/s"))
	w.Depth("bad.test/y", 1, 0)
	w.Depth("stub.test/o/s", 1, 0)
	running := told(t, w.Survey())
	finish(w)
	first, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		told        []string
		count, link int
		gone        bool
	}{
		{"run 1", told(t, first), 2, 5, false}, {"run 2, not completed", running, 2, 3, false},
		{"run 2", told(t, w.Survey()), 1, 2, true},
	} {
		for _, want := range []string{
			fmt.Sprintf("| Blacklisted URLs Found | %d |", tt.count), fmt.Sprintf("| Stubbed URLs Found | %d |", tt.count),
			fmt.Sprintf("| Total Links Recorded | %d |", tt.link), fmt.Sprintf("*(Showing top %d of %d)*", tt.count, tt.count),
		} {
			if !slices.Contains(tt.told, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.name, want, strings.Join(tt.told, "\n"))
			}
		}
		if gone := !strings.Contains(strings.Join(tt.told, "\n"), "stub.test/o/r"); gone != tt.gone {
			t.Errorf("%s: the stub that vanished is left out: %t", tt.name, gone)
		}
	}
}

// In an older run, a host that was never reached but named with https is not reported as seen only
// as http.
func TestOlderRunHTTPS(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("gone.test/"))
	w.Depth("gone.test/", 1, 0)
	w.Visit("gone.test/", func(v *schema.Visit) { v.State, v.Status = schema.Unreachable, 0 })
	w.Host("gone.test/", func(h *schema.Host) { h.HTTPS = true })
	finish(w)
	w.Begin()
	w.Visit("a.test/", w.Links("gone.test/"))
	finish(w)
	s, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range told(t, s) {
		if strings.Contains(line, "Seen Only as http://") {
			t.Errorf("it is told under %q", line)
		}
	}
}

// The first of three runs is summarised as when it ended, except for data that is stored only for the
// newest run.
func TestOlderRun(t *testing.T) {
	for _, cut := range []bool{false, true} {
		w := surveytest.New(t, lists)
		w.Visit("a.test/", w.Links("b.test/", "bad.test/x", "stub.test/o/r", "a.test/last"))
		w.Visit("q.test/", w.Links("bad.test/x", "a.test/"))
		w.Visit("moved.q.test/", w.Redirect("q.test/"))
		for _, name := range []string{"b.test/", "bad.test/x", "stub.test/o/r"} {
			w.Depth(name, 1, 0)
		}
		w.Visit("b.test/", nil)
		w.Depth("a.test/last", 0, 0)
		if !cut {
			w.Visit("a.test/last", nil)
		}
		w.Host("a.test/", func(h *schema.Host) { h.RunRequests = 500 })
		finish(w)
		then := told(t, w.Survey())
		for range 2 {
			w.Begin()
			w.Visit("a.test/", w.Links("c.test/", "bad.test/y"))
			w.Visit("q.test/", nil)
			w.Host("a.test/", func(h *schema.Host) { h.RunGivenUp = schema.GaveUpConnection })
			finish(w)
		}
		s, err := w.Survey().At(1)
		if err != nil {
			t.Fatal(err)
		}
		now := told(t, s)
		then = slices.DeleteFunc(then, func(line string) bool { return strings.HasPrefix(line, "**Digest:**") })
		gone := []string{"- none", "Every domain within reach was crawled to the end."}
		came := []string{laterRun, "- -", "Every page within reach that was recorded was visited.",
			"| cut by budget | - |", "| slowed by Crawl-delay | - |", "| suspended | - |", "| given up | - |"}
		if cut {
			gone = []string{
				"- a.test (1 page, cut by budget (max-domain-requests = 500))", "- none",
				"| cut by budget | 1 |", "- a.test: 1 page, 1 waiting (max-domain-requests = 500)",
				"| a.test | quality | 1 | 0.3509 | 1 | cut by budget (max-domain-requests = 500) |",
			}
			came = []string{
				laterRun, "- a.test (1 page, cut)", "- -", "| cut by budget | - |", "| slowed by Crawl-delay | - |",
				"| suspended | - |", "| given up | - |", "| cut | 1 |", "- a.test: 1 page, 1 missing",
				"| a.test | quality | 1 | 0.3509 | 1 | cut |",
			}
		}
		if diff := cmp.Diff(gone, without(then, now)); diff != "" {
			t.Errorf("gone, cut %t (-want +got):\n%s", cut, diff)
		}
		if diff := cmp.Diff(came, without(now, then)); diff != "" {
			t.Errorf("came, cut %t (-want +got):\n%s", cut, diff)
		}
	}
}

const laterRun = "A later run has followed, and \"-\" stands for what is kept of the last one only: budgets, " +
	"delays and caps, hosts that were given up or asked Ripple to wait, and what was met without being recorded. " +
	"So it is not known any more by what a domain was cut."

// told returns a summary as lines.
func told(t *testing.T, s *survey.Survey) []string {
	t.Helper()
	var b strings.Builder
	if err := summary.Write(&b, s, "v1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	return strings.Split(b.String(), "\n")
}

// without returns the lines that are not among others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

func TestWriteError(t *testing.T) {
	w := surveytest.New(t, lists)
	if err := summary.Write(failing{}, w.Survey(), "v1.0", export.Endorsements); !errors.Is(err, errFull) {
		t.Errorf("Write = %v; want the writer's error", err)
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// The number of missing pages is the sum over the cut domains, and the number of cut domains equals
// those in the table and the list.
func TestMissingAddUp(t *testing.T) {
	w := surveytest.New(t, lists)
	blocked := func(v *schema.Visit) {
		v.State, v.Status, v.Charset, v.Reason = schema.Failed, 403, "", schema.StatusReason(403)
	}
	w.Visit("a.test/", w.Links("login.test/1", "late.test/", "later.test/", "block.test/"))
	w.Visit("login.test/1", w.Links("a.test/"))
	w.Visit("login.test/2", w.Links("a.test/"))
	w.Visit("login.test/3", blocked)
	w.Visit("block.test/", blocked)
	for _, name := range []string{"late.test/", "later.test/", "later.test/2", "login.test/1"} {
		w.Depth(name, 1, 0)
	}
	var b strings.Builder
	if err := summary.Write(&b, w.Survey(), "1.0", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "## Coverage\n")
	text, _, _ = strings.Cut(text, "\n---\n")
	head, list, _ := strings.Cut(text, "### Domains That Were Cut\n")
	listed := 0
	for _, m := range regexp.MustCompile(`(?m)^- .*? (\d+) (?:waiting|missing)`).FindAllStringSubmatch(list, -1) {
		n, _ := strconv.Atoi(m[1])
		listed += n
	}
	want := fmt.Sprintf("%d domains were cut, at least %d pages missing.", strings.Count(list, "\n- ")+1, listed)
	if !strings.Contains(head, want) {
		t.Errorf("the list says %s\n%s", want, text)
	}
}
