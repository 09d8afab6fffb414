package answer

import (
	"cmp"
	"time"

	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
	"github.com/sumi-ripple/ripple/schema/parked"
)

// An Answered is what a server answered instead of a page, and how that was recognised.
type Answered struct {
	Answer string `json:"answer"`
	Rule   string `json:"answer_rule"`
	Date   string `json:"rule_date,omitempty"`   // when the rule was added or last changed
	Source string `json:"rule_source,omitempty"` // where its sign is documented or can be seen
	Sign   string `json:"sign"`                  // what the rule finds, and where
}

// newAnswered describes the rule that recognised an answer; nil: the answer is a page. This version may not know the
// rule of an older one.
func newAnswered(a schema.Answer, id string) *Answered {
	found := &Answered{Answer: a.String(), Rule: id}
	switch a {
	case schema.AnswerPage:
		return nil
	case schema.AnswerChallenge:
		for _, r := range wall.Rules() {
			if r.ID == id {
				found.Date, found.Source, found.Sign = r.Date, r.Source, r.Vendor+": "+r.Sign()
			}
		}
	case schema.AnswerSoft404:
		found.Sign = missing.Meaning(id)
	case schema.AnswerParked:
		for _, r := range parked.Rules() {
			if r.ID == id {
				found.Date, found.Source, found.Sign = r.Date, r.Source, r.Where.String()+": "+r.Meaning
			}
		}
	}
	found.Sign = cmp.Or(found.Sign, "a rule of another version")
	return found
}

// A MissingProbe is what a host answered to a request for a page that does not exist.
type MissingProbe struct {
	URL     string     `json:"url"`
	At      *time.Time `json:"requested_at"` // of an earlier run, if later ones were told nothing
	LastRun int        `json:"last_run"`     // the last that asked
	Status  int        `json:"status_code"`  // 0: no answer
	Wall    bool       `json:"wall"`         // the answer was a wall
	Target  string     `json:"redirect_to"`  // with * in place of the path that was requested
	Title   string     `json:"title"`
	Scripts bool       `json:"needs_scripts"` // what it shows cannot be compared
}

// newMissingProbe returns what a host answered; nil: it was not asked.
func newMissingProbe(h *schema.Host) *MissingProbe {
	if h == nil || h.Missing.Run == 0 {
		return nil
	}
	at := h.Name
	if h.ShownWWW {
		at = "www." + at
	}
	m := &h.Missing
	return &MissingProbe{
		URL: "https://" + at + missing.Path(h.Name), At: timeOrNull(m.At), LastRun: int(m.Run), Status: m.Status,
		Wall: m.Walled, Target: m.Target, Title: m.Title, Scripts: m.Shell,
	}
}
