package wall

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// honest is a page with content, whose markup may carry what more says.
func honest(more string) string {
	return `<html><head><title>Access denied: checking your browser</title>` + more + `</head><body><h1>Just a moment...</h1><p>` +
		strings.Repeat("This page explains what a challenge of Cloudflare, Anubis or Imperva is. ", 30) +
		`</p><a href="/next">next</a><form class="cf-turnstile"></form></body></html>`
}

// bare is a page without title, text or links.
func bare(more string) string { return `<html><head>` + more + `</head><body></body></html>` }

func TestRules(t *testing.T) {
	tests := []struct {
		rule          string
		found, missed []answer
	}{
		{"cloudflare-header", []answer{
			{403, "Cf-Mitigated: challenge", bare("")}, {200, "Cf-Mitigated: Challenge", honest("")}, {503, "Cf-Mitigated: challenge", ""},
		}, []answer{
			{403, "Cf-Mitigated: block", bare("")}, {200, "Server: cloudflare", honest("")}, {403, "Cf-Ray: challenge", ""},
		}},
		{"vercel-header", []answer{{429, "X-Vercel-Mitigated: challenge", bare("")}, {403, "X-Vercel-Mitigated: challenge", ""}},
			[]answer{{429, "X-Vercel-Mitigated: deny", bare("")}, {200, "X-Vercel-Id: challenge", honest("")}}},
		{"aws-waf-header", []answer{{202, "X-Amzn-Waf-Action: challenge", bare("")}, {405, "X-Amzn-Waf-Action: captcha", bare("")}},
			[]answer{{202, "X-Amzn-Waf-Action: count", bare("")}, {202, "X-Amzn-Requestid: challenge", honest("")}}},
		{"datadome-header", []answer{{403, "X-Datadome: protected", bare("")}, {403, "X-DataDome: Protected; v=1", ""}},
			[]answer{{200, "X-Datadome: protected", honest("")}, {403, "X-Datadome: bypassed", bare("")}}},
		{"anubis-challenge", []answer{
			{200, "", honest(`<script id="anubis_challenge" type="application/json">{"rules":{}}</script>`)},
			{401, "", bare(`<script type="application/json" id='anubis_challenge'>{}</script>`)},
		}, []answer{
			{200, "", honest("") + `<pre>&lt;script id="anubis_challenge"&gt;</pre><p id="anubis_challenge">anubis_challenge</p>`},
			{200, "", honest(`<script>document.getElementById("anubis_challenge")</script>`)},
			{200, "", honest(`<!-- <script id="anubis_challenge"> -->`)},
			{200, "", honest(`<script id="anubis_challenge_docs"></script>`)},
		}},
		{"anubis-resource", []answer{
			{200, "", honest(`<meta name="robots" content="noindex,nofollow">` +
				`<script src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script>`)},
			{503, "", bare(`<link rel=stylesheet href="/prefix/.within.website/x/cmd/anubis/static/css/a.css">` +
				`<meta name=ROBOTS content=NOINDEX>`)},
		}, []answer{
			{200, "", honest(`<script src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script>`)},
			{200, "", honest(`<meta name="robots" content="noindex"><img src="https://b.test/.within.website/x/cmd/anubis/i.webp">`)},
			{200, "", honest(`<meta name="robots" content="noindex">`) +
				`<p>/.within.website/x/cmd/anubis/ <a href="/.within.website/x/cmd/anubis/">`},
		}},
		{"cloudflare-script", []answer{
			{403, "", bare(`<title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}</script>`)},
			{200, "", bare(`<script>_cf_chl_opt={}</script>`) + `<a href="https://www.cloudflare.com/">C</a><a href="#x">x</a>`},
		}, []answer{
			{200, "", honest(`<script>window._cf_chl_opt={cvId:'3'}</script>`)},
			{200, "", bare("") + `<a href="https://www.a.test/next">n</a><script>_cf_chl_opt={}</script>`},
			{200, "", bare("") + `_cf_chl_opt`},
		}},
		{"imperva-resource", []answer{
			{200, "", bare(`<script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>`)},
			{403, "", bare("") + `<iframe src="/_Incapsula_Resource?CWUDNSAI=9&xinfo=1">Request unsuccessful.</iframe>`},
			{200, "", bare(`<script>(function(){ var s="/_Incapsula_Resource?SWJIYLWA=1" })()</script>`)},
		}, []answer{
			{200, "", honest(`<script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>`)},
			{200, "", bare(`<title>A shop</title><script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>`)},
			{200, "", bare("") + `the address /_Incapsula_Resource`},
		}},
	}
	var tested []string
	for _, tt := range tests {
		tested = append(tested, tt.rule)
		for i, a := range tt.found {
			if r := a.detect(); r == nil || r.ID != tt.rule {
				t.Errorf("%s: answer %d is found by %v", tt.rule, i, r)
			}
			for _, a.status = range []int{200, 202, 401, 403, 429, 503} {
				want := ruleOf(tt.rule).Statuses == nil || slices.Contains(ruleOf(tt.rule).Statuses, a.status)
				if r := a.detect(); (r != nil && r.ID == tt.rule) != want {
					t.Errorf("%s: answer %d with status %d is found by %v", tt.rule, i, a.status, r)
				}
			}
		}
		for i, a := range tt.missed {
			if r := a.detect(); r != nil {
				t.Errorf("%s: honest answer %d is found by %s", tt.rule, i, r.ID)
			}
		}
		if len(tt.found) == 0 || len(tt.missed) == 0 {
			t.Errorf("%s has no test", tt.rule)
		}
	}
	var rules []string
	for _, r := range Rules() {
		rules = append(rules, r.ID)
		if r.Vendor == "" || r.Source == "" || len(r.Date) != len(time.DateOnly) {
			t.Errorf("rule %s: %+v", r.ID, r)
		}
	}
	if !slices.Equal(rules, tested) {
		t.Errorf("rules %v, tested are %v", rules, tested)
	}
}

func ruleOf(id string) Rule {
	all := Rules()
	return all[slices.IndexFunc(all, func(r Rule) bool { return r.ID == id })]
}

type answer struct {
	status      int
	field, body string
}

func (a answer) detect() *Rule {
	header := http.Header{}
	if name, value, found := strings.Cut(a.field, ": "); found {
		header.Set(name, value)
	}
	return Detect(a.status, header, []byte(a.body), "a.test")
}

// Rules on bodies hold at every status.
func TestEveryStatus(t *testing.T) {
	for _, status := range []int{200, 202, 401, 403, 429, 503} {
		a := answer{status, "", bare(`<script id="anubis_challenge">{}</script>`)}
		if a.detect() == nil {
			t.Errorf("status %d: no wall", status)
		}
		a.body = honest("")
		if r := a.detect(); r != nil {
			t.Errorf("status %d: an honest page is found by %s", status, r.ID)
		}
	}
}

// FuzzDetect looks for input on which the parts of a page are not found, or that costs more than it is long.
func FuzzDetect(f *testing.F) {
	for _, r := range Rules() {
		f.Add(200, bare(fmt.Sprintf("<script id=%s src=%[1]s>%[1]s</script>", r.Patterns[0])))
	}
	f.Add(403, "<script")
	f.Add(200, "_challenge anubis_anubis_challenge._cf_chl_op_cf_chl_opt")
	f.Fuzz(func(t *testing.T, status int, body string) {
		s := signsOf([]byte(body), "a.test")
		n := 0
		for _, part := range slices.Concat(s.ids, s.scripts, s.resources) {
			n += len(part)
		}
		if n > 8*len(body) { // an attribute may be an id and an address, and a NUL becomes three bytes
			t.Errorf("%d bytes from %d", n, len(body))
		}
		for _, r := range Rules() {
			for _, p := range r.Patterns {
				if got := contains([]byte(body), p); got != strings.Contains(body, p) {
					t.Errorf("%q contains %q: %t", body, p, got)
				}
			}
		}
		if r := Detect(status, http.Header{}, []byte(body), "a.test"); r != nil && !r.mentioned([]byte(body)) {
			t.Errorf("%s in %q", r.ID, body)
		}
	})
}

// The version changes with the rules alone.
func TestVersion(t *testing.T) {
	if v := Version(); v != Version() || !strings.HasPrefix(v, "2026-") || len(v) != len("2026-11-28-00000000") {
		t.Errorf("version %q", v)
	}
}
