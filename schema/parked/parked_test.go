package parked

import (
	"slices"
	"testing"
	"time"
)

// Every rule finds an offer, and not the nearest honest answer.
func TestRules(t *testing.T) {
	tests := []struct {
		rule          string
		found, missed []answer
	}{
		{"sedo", []answer{{"old.test", "https://sedo.com/search/details/?domain=old.test", ""}},
			[]answer{{"sedo.de", "https://sedo.com/de/", ""}, {"old.test", "https://sedo.com/", ""},
				{"sedo.com", "https://sedo.com/us/", ""}}},
		{"dan", []answer{{"old.test", "https://dan.com/buy-domain/old.test?redirected=true", ""}},
			[]answer{{"old.test", "https://dan.com.test/buy-domain/old.test", ""}}},
		{"afternic", []answer{{"www.old.test", "https://afternic.com/forsale/old.test?traffic_id=1", ""}},
			[]answer{{"www.old.test", "https://afternic.com/forsale/older.test", ""}}},
		{"godaddy", []answer{{"old.test", "https://forsale.godaddy.com/forsale/old.test", ""}},
			[]answer{{"old.test", "https://godaddy.com/help", ""}, {"blog.godaddy.com", "https://godaddy.com/resources", ""}}},
		{"hugedomains", []answer{{"old.test", "https://hugedomains.com/domain_profile.cfm?d=old.test", ""}},
			[]answer{{"old.test", "https://hugedomains.com/domain_profile.cfm?d=cold.test", ""}}},
		{"atom", []answer{{"old.test", "https://atom.com/name/old.test", ""}},
			[]answer{{"old.test", "https://atom.com/name/old", ""}, {"atom.com", "https://atom.com/home", ""},
				{"atom.com", "https://atom.com/name/atom.com", ""}}},
		{"buydomains", []answer{{"old.test", "https://buydomains.com/lander/old.test?domain=old.test", ""}},
			[]answer{{"old.test", "https://buydomains.org/lander/old.test", ""}}},
		{"domainmarket", []answer{{"old.test", "https://domainmarket.com/buynow/old.test", ""}},
			[]answer{{"old.test", "https://domainmarket.com/buynow/old.test.example", ""}}},
		{"brandbucket", []answer{{"old.test", "https://brandbucket.com/names/old.test", ""}},
			[]answer{{"old.test", "https://brandbucket.com/names/bold.test", ""}}},
		{"bodis", []answer{{"old.test", "https://parking.bodis.com/old.test", ""}},
			[]answer{{"old.test", "https://nobodis.com/old.test", ""}}},
		{"parkingcrew", []answer{{"old.test", "https://parkingcrew.net/?domain=old.test", ""}},
			[]answer{{"old.test", "https://parkingcrew.net/about", ""}}},
		{"above", []answer{{"old.test", "https://above.com/marketplace/old.test", ""}},
			[]answer{{"old.test", "https://above.com/blog", ""}}},
		{"title", []answer{{"old.test", "", "old.test is for sale"}, {"www.old.test", "", "Old.Test  FOR SALE!"},
			{"old.test", "", "The domain name old.test is for sale."}, {"old.test", "", "Die Domain old.test steht zum Verkauf"}},
			[]answer{{"old.test", "", "Houses for sale"}, {"old.test", "", "other.test is for sale"}, {"old.test", "", "old.test"},
				{"old.test", "", "How to see that old.test is for sale"}}},
	}
	var tested, rules []string
	for _, tt := range tests {
		tested = append(tested, tt.rule)
		for i, a := range tt.found {
			if r := a.find(); r == nil || r.ID != tt.rule {
				t.Errorf("%s: answer %d is found by %v", tt.rule, i, r)
			}
		}
		for i, a := range tt.missed {
			if r := a.find(); r != nil {
				t.Errorf("%s: honest answer %d is found by %s", tt.rule, i, r.ID)
			}
		}
		if len(tt.found) == 0 || len(tt.missed) == 0 {
			t.Errorf("%s has no test", tt.rule)
		}
	}
	for _, r := range Rules() {
		rules = append(rules, r.ID)
		if r.Source == "" || r.Meaning == "" || len(r.Patterns) == 0 || len(r.Date) != len(time.DateOnly) {
			t.Errorf("rule %s: %+v", r.ID, r)
		}
	}
	if !slices.Equal(rules, tested) {
		t.Errorf("rules %v, tested are %v", rules, tested)
	}
}

type answer struct{ host, redirect, title string }

func (a answer) find() *Rule {
	if a.redirect != "" {
		return ByRedirect(a.host, a.redirect)
	}
	return ByTitle(a.host, a.title)
}
