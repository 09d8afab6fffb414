package answer_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/schema"
)

// Pages that are not found, although their status is 200, are counted as the class by which they can be chosen.
func TestBrokenClasses(t *testing.T) {
	soft := &broken.Target{To: "https://soft.test/", State: schema.Processed, Answer: schema.AnswerSoft404, Status: 200}
	links := []broken.Link{{Source: &broken.Source{From: "https://a.test/"}, Target: soft}}
	got := answer.NewBrokenTargets(links, nil, broken.Choice{State: "soft404"}, 10)
	if diff := cmp.Diff([]answer.BrokenCount{{Name: "soft404", Links: 1}}, got.States); diff != "" || got.Links != 1 {
		t.Errorf("%d links chosen; states (-want +got):\n%s", got.Links, diff)
	}
}

// All broken links are counted, however many are chosen or listed.
func TestBrokenTargets(t *testing.T) {
	dead := &broken.Target{To: "https://dead.test/", State: schema.DeadLink, Status: 404, Why: "404 Not Found"}
	away := &broken.Target{To: "https://away.test/", State: schema.Unreachable, Why: "no such host"}
	var links []broken.Link
	for i := range 10_030 {
		l := broken.Link{Source: &broken.Source{From: fmt.Sprintf("https://a.test/%d", i)}, Target: dead}
		if l.Origin = "a.test"; i%3 == 2 {
			l.Origin, l.Target = "", away
		}
		if i == 5 {
			l.Link.Anchor = "A Word"
		}
		links = append(links, l)
	}
	wall := &broken.Target{To: "https://wall.test/", State: schema.Failed, Answer: schema.AnswerChallenge, Status: 403}
	walled := []broken.Link{{Source: &broken.Source{Origin: "a.test", From: "https://a.test/"}, Target: wall}}
	for _, tt := range []struct {
		choice          broken.Choice
		limit           int
		links, targets  int
		listed          string
		first, ofOrigin int
	}{
		{broken.Choice{}, 10, 10_030, 2, "https://dead.test/", 20, 1},
		{broken.Choice{}, 1, 10_030, 2, "https://dead.test/", 20, 1},
		{broken.Choice{}, 0, 10_030, 2, "", 0, 0},
		{broken.Choice{Origin: broken.NoOrigin}, 10, 3343, 1, "https://away.test/", 20, 0},
		{broken.Choice{Origin: "a.test", State: "unreachable"}, 10, 0, 0, "", 0, 0},
		{broken.Choice{State: "dead_link"}, 10, 6687, 1, "https://dead.test/", 20, 1},
		{broken.Choice{Search: "a WORD"}, 10, 1, 1, "https://away.test/", 1, 0},
		{broken.Choice{Search: "no such"}, 10, 3343, 1, "https://away.test/", 20, 0},
	} {
		got := answer.NewBrokenTargets(links, walled, tt.choice, tt.limit)
		if got.All != 10_030 || got.Links != tt.links || got.Count != tt.targets || len(got.Targets) != min(tt.limit, tt.targets) {
			t.Errorf("%+v: %d of %d links, %d targets, %d listed", tt.choice, got.Links, got.All, got.Count, len(got.Targets))
		}
		if len(got.Targets) > 0 {
			if one := got.Targets[0]; one.To != tt.listed || len(one.First) != tt.first || one.Origins != tt.ofOrigin {
				t.Errorf("%+v: %+v", tt.choice, one)
			}
		}
		behind := 0 // chosen by origin and search, and by no state
		if tt.choice == (broken.Choice{}) {
			behind = 1
		}
		if got.WalledLinks != behind || got.WalledCount != behind || len(got.Walled) != min(tt.limit, behind) {
			t.Errorf("%+v: %d links to %d walled targets: %+v", tt.choice, got.WalledLinks, got.WalledCount, got.Walled)
		}
		if len(got.Walled) > 0 {
			if first := got.Walled[0].First[0].Answer; first == nil || *first != "challenge" {
				t.Errorf("%+v: %+v", tt.choice, got.Walled)
			}
		}
		want := []answer.BrokenCount{{Name: "a.test", Links: 6687}, {Name: "none", Links: 3343}}
		if diff := cmp.Diff(want, got.Origins); diff != "" {
			t.Errorf("%+v: origins (-want +got):\n%s", tt.choice, diff)
		}
	}
}
