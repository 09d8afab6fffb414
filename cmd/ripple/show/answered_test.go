package show

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestAnswered: a page and a host say what came instead of a page, by which rule, and what shows it.
func TestAnswered(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	wall := func(rule string) func(v *schema.Visit) {
		return func(v *schema.Visit) {
			v.State, v.Status, v.Reason = schema.Failed, 200, schema.Reason{Cause: schema.CauseChallenge}
			v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, rule, 200
		}
	}
	w.Visit("a.test/", w.Links("a.test/gone", "a.test/walled", "a.test/replayed", "c.test/"))
	w.Visit("a.test/gone", func(v *schema.Visit) { v.Shown = 7 })
	w.Visit("a.test/walled", wall("anubis-challenge"))
	real := w.Visit("a.test/replayed", nil)
	w.Visit("a.test/replayed", func(v *schema.Visit) { // as replay leaves it
		wall("imperva-resource")(v)
		v.State, v.Kept, v.Stand, v.Requests = schema.Processed, true, real, 0
	})
	w.Visit("a.test/older", wall("vendor-gone"))
	w.Visit("c.test/", func(v *schema.Visit) { v.Title = "c.test is for sale" })
	probe := schema.MissingProbe{Run: 1, At: w.At, Status: 200, Title: "Not found", Shown: 7}
	w.Host("a.test/", func(h *schema.Host) { h.Missing, h.Visits = probe, 4 })
	w.Host("c.test/", func(h *schema.Host) { h.Visits = 1 })
	r := answer.Inspector{State: &statefile.State{Survey: w.Survey(), Store: w.Store}}
	for name, want := range map[string][]string{
		"https://a.test/gone": {`(?m)^  answer +soft404: shows what the host shows for pages that do not exist ` +
			`\(rule missing-same\)\n  compared with +https://a.test/[a-z]{20}: 200 "Not found" at 2026-01-15T10:30:\d\dZ$`},
		"https://a.test/walled": {`(?m)^  answer +challenge: Anubis: id of a script anubis_challenge ` +
			`\(rule anubis-challenge of 20\d\d-\d\d-\d\d; Anubis: template of the challenge page\)$`,
			`(?m)^  run #1 .* failed +a wall \(200, anubis-challenge\), 200, `},
		"https://a.test/replayed": {`(?m)^  answer +challenge: Imperva: address of a resource, or text of a script, ` +
			`/_Incapsula_Resource; no title, and little text \(rule imperva-resource of `,
			`(?m)^  run #1 .* processed +kept, without a request, a wall \(200, imperva-resource\), so an earlier visit counts$`},
		"https://a.test/older": {`(?m)^  answer +challenge: a rule of another version \(rule vendor-gone\)$`},
		"https://c.test/":      {`(?m)^  answer +parked: title of the front page: .* \(rule title of `},
		"a.test": {`(?m)^  wall +met by 3 pages; Anubis: id of a script anubis_challenge \(rule `,
			`(?m)^  not found +soft \(1 page\); https://a.test/[a-z]{20}: 200 `},
		"c.test": {`(?m)^  for sale +title of the front page: `},
	} {
		var b strings.Builder
		if answer.IsHost(name) {
			d, err := r.InspectHost(name, "", 20)
			if err == nil {
				err = Host(&b, d, "", 20)
			}
			if err != nil {
				t.Fatal(err)
			}
		} else {
			p, err := r.InspectPage(name, "", 20)
			if err == nil {
				err = Page(&b, p, "")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range want {
			if !regexp.MustCompile(line).MatchString(b.String()) {
				t.Errorf("%s: no %s in\n%s", name, line, b.String())
			}
		}
	}
}
