package answer

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/schema"
)

// BrokenTargets counts broken links, and lists the targets of the selected ones. The counts cover all broken links, not
// only those listed.
type BrokenTargets struct {
	All     int            `json:"all_links"` // whatever is chosen
	Origins []BrokenCount  `json:"origins"`   // of all links; the name of no origin is "none"
	States  []BrokenCount  `json:"states"`    // of all links
	Links   int            `json:"links"`     // that are chosen
	Count   int            `json:"target_count"`
	Targets []BrokenTarget `json:"targets"` // those that most pages link to, first

	// Links to pages that show a wall, which are not known to be broken: none of them is in the fields above.
	WalledLinks int            `json:"walled_links"` // that are chosen
	WalledCount int            `json:"walled_target_count"`
	Walled      []BrokenTarget `json:"walled_targets"`
}

// A BrokenCount is a number of broken links.
type BrokenCount struct {
	Name  string `json:"name"`
	Links int    `json:"links"`
}

// A BrokenTarget is the target of broken links.
type BrokenTarget struct {
	To      string       `json:"to_url"`
	State   string       `json:"state"`
	Status  *int         `json:"status_code"`
	Error   string       `json:"error_message"`
	Answer  *string      `json:"answer"` // what came instead of a page
	Links   int          `json:"links"`
	Origins int          `json:"origins"`
	First   []BrokenLink `json:"first_links"`
}

// mostFirstLinks is the number of links that are listed with a target.
const mostFirstLinks = 20

// NewBrokenTargets counts all links, and lists at most limit targets of the chosen ones, and as many walled targets.
func NewBrokenTargets(all, allWalled []broken.Link, c broken.Choice, limit int) *BrokenTargets {
	chosen, walled := c.Of(all), c.OfWalled(allWalled)
	groups, walledGroups := broken.ByTarget(chosen), broken.ByTarget(walled)
	return &BrokenTargets{All: len(all), Links: len(chosen), Count: len(groups), Targets: brokenTargets(groups, limit),
		WalledLinks: len(walled), WalledCount: len(walledGroups), Walled: brokenTargets(walledGroups, limit),
		Origins: countBroken(all, func(l *broken.Link) string { return cmp.Or(l.Origin, broken.NoOrigin) }),
		States:  countBroken(all, func(l *broken.Link) string { return l.Class() })}
}

// brokenTargets lists at most limit targets.
func brokenTargets(groups []broken.Group, limit int) []BrokenTarget {
	targets := []BrokenTarget{}
	for _, g := range groups[:min(limit, len(groups))] {
		origins := map[string]bool{}
		for i := range g.Links {
			origins[g.Links[i].Origin] = true
		}
		delete(origins, "")
		t := BrokenTarget{To: g.To, State: g.State.String(), Error: g.Why, Answer: answerOrNull(g.Answer),
			Links: len(g.Links), Origins: len(origins)}
		if g.Status != 0 {
			t.Status = &g.Status
		}
		for i := range g.Links[:min(mostFirstLinks, len(g.Links))] {
			t.First = append(t.First, newBrokenLink(&g.Links[i]))
		}
		targets = append(targets, t)
	}
	return targets
}

// countBroken counts links by name, in the order in which the names first occur.
func countBroken(links []broken.Link, name func(*broken.Link) string) []BrokenCount {
	counts := []BrokenCount{}
	at := map[string]int{}
	for i := range links {
		n := name(&links[i])
		if _, known := at[n]; !known {
			at[n] = len(counts)
			counts = append(counts, BrokenCount{Name: n})
		}
		counts[at[n]].Links++
	}
	return slices.Clip(counts)
}

func newBrokenLink(l *broken.Link) BrokenLink {
	b := BrokenLink{From: l.From, Anchor: l.Link.Anchor, To: l.To, State: l.State.String(), Error: l.Why,
		Kind: l.Link.Kinds.First().String(), Rel: l.Link.Rel.String(), Place: l.Link.Where()}
	if l.Origin != "" {
		b.Origin = &l.Origin
	}
	if l.Status != 0 {
		b.Status = &l.Status
	}
	b.Answer = answerOrNull(l.Answer)
	return b
}

// answerOrNull returns what came instead of a page; nil: nothing did.
func answerOrNull(a schema.Answer) *string {
	if a == schema.AnswerPage {
		return nil
	}
	text := a.String()
	return &text
}
