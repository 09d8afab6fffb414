package survey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A handsRow is what the front page of b.test shows in three runs. In the second and the third it may say nothing.
type handsRow struct {
	name      string
	fronts    [3]func(w *surveytest.World, v *schema.Visit)
	want      string // in the diff of the first and the last run; empty: it has not changed hands
	wantSince string // compared with the last time at which the page was shown
}

func handsRows() []handsRow {
	shows := func(title string, sim schema.SimHash, links ...string) func(*surveytest.World, *schema.Visit) {
		return func(w *surveytest.World, v *schema.Visit) {
			v.Charset, v.Title, v.SimHash = "utf-8", title, sim
			w.Links(links...)(v)
		}
	}
	moves := func(to string) func(*surveytest.World, *schema.Visit) {
		return func(w *surveytest.World, v *schema.Visit) { w.Redirect(to)(v) }
	}
	wall := func(w *surveytest.World, v *schema.Visit) {
		v.State, v.Answer, v.AnswerRule = schema.Failed, schema.AnswerChallenge, "anubis-challenge"
	}
	fails := func(_ *surveytest.World, v *schema.Visit) { v.State, v.Status = schema.Failed, 503 }
	shell := func(w *surveytest.World, v *schema.Visit) {
		shows("Spin to Win", 0)(w, v)
		v.Shell = schema.ShellMount
	}
	bakery := shows("Home - The Bakery", 0xff00, "b.test/bread", "mill.test/", "b.test/rolls")
	casino := shows("Home: Casino", 0xabcd<<40, "b.test/bonus", "casino.test/", "c.test/")
	row := func(name, want string, last func(*surveytest.World, *schema.Visit)) handsRow {
		return handsRow{name, [3]func(*surveytest.World, *schema.Visit){bakery, bakery, last}, want,
			strings.Replace(want, "1", "2", 1)}
	}
	taken := "1 Home - The Bakery >  Home: Casino"
	since := "2 Home - The Bakery >  Home: Casino"
	short := func(title string) handsRow {
		before := shows(title, 0xff00, "b.test/ink")
		return handsRow{"a redesign under the title " + title, [3]func(*surveytest.World, *schema.Visit){before, before,
			shows(" "+strings.ToUpper(title), 0xabcd<<40, "b.test/toner")}, "", ""}
	}
	return []handsRow{
		{"another site's page", [3]func(*surveytest.World, *schema.Visit){bakery, bakery, casino}, taken, since},
		{"a redirect to another site", [3]func(*surveytest.World, *schema.Visit){bakery, bakery, moves("casino.test/")},
			"1 Home - The Bakery > https://casino.test/ ", "2 Home - The Bakery > https://casino.test/ "},
		{"changed a run ago", [3]func(*surveytest.World, *schema.Visit){bakery, casino, casino}, taken, ""},
		{"a wall between", [3]func(*surveytest.World, *schema.Visit){bakery, wall, casino}, taken, taken},
		{"an error between", [3]func(*surveytest.World, *schema.Visit){bakery, fails, casino}, taken, taken},
		{"a wall before", [3]func(*surveytest.World, *schema.Visit){wall, bakery, casino}, "", since},
		row("a wall now", "", wall),
		row("an error now", "", fails),
		row("a page that its scripts build", "", shell),
		row("a redesign with the name in the title", "", shows("Bakery and mill", 0xabcd<<40, "b.test/new")),
		row("a redesign with a common link", "", shows("Fresh bread", 0xabcd<<40, "mill.test/")),
		row("a redesign with the same text", "", shows("Fresh bread", 0xff01, "b.test/new")),
		row("to another host of the site", "", moves("shop.b.test/")),
		row("only other links", "", shows("", 0, "b.test/bonus", "casino.test/", "c.test/")),
		row("only another text", "", shows("", 0xabcd<<40)),
		row("only another title", "", shows("Maintenance", 0)),
		row("another title and links", taken, shows("Home: Casino", 0, "casino.test/", "c.test/", "d.test/")),
		row("another title and a few links", "", shows("Home: Casino", 0, "casino.test/", "c.test/")),
		short("hp"), short("3m"), short("茶"), short("Welcome"),
		row("nothing to compare", "", func(_ *surveytest.World, v *schema.Visit) { v.Charset = "utf-8" }),
		{"always elsewhere", [3]func(*surveytest.World, *schema.Visit){moves("c.test/"), moves("c.test/"), casino}, "", ""},
		{"names without spaces", [3]func(*surveytest.World, *schema.Visit){shows("山田書店", 0), shows("山田書店", 0),
			shows("書店山田 公式", 0)}, "", ""},
	}
}

func TestChangedHands(t *testing.T) {
	for _, tt := range handsRows() {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, minimal)
			for run, shows := range tt.fronts {
				if run > 0 {
					w.Begin()
				}
				w.Depth("b.test/", 1, 0)
				w.Visit("b.test/", func(v *schema.Visit) { shows(w, v) })
				w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
			}
			s := w.Survey()
			tell := func(found []survey.NewHands) (text string) {
				for _, h := range found {
					text += fmt.Sprintf("%d %s > %s %s", h.Before.Run, h.Before.Title, h.After.To, h.After.Title)
				}
				return text
			}
			d, err := survey.Compare(s, 1, 3)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := d.Sum()
			if err != nil || tell(sum.Hands) != tt.want {
				t.Errorf("from run 1 to 3: %q, %v; want %q", tell(sum.Hands), err, tt.want)
			}
			found, err := s.ChangedHands()
			if err != nil || tell(found) != tt.wantSince {
				t.Errorf("since it was last shown: %q, %v; want %q", tell(found), err, tt.wantSince)
			}
			text, err := json.Marshal(found)
			var read []survey.NewHands
			if err = errors.Join(err, json.Unmarshal(text, &read)); err != nil || !reflect.DeepEqual(read, found) {
				t.Errorf("%+v keeps more than is shown, %v: %s", found, err, text)
			}
		})
	}
}
