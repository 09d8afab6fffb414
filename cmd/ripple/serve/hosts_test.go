package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A host is also found by a part of its name in display form.
func TestSearchHosts(t *testing.T) {
	x := &hostIndex{Hosts: []hostKey{{Name: "xn--mnchen-3ya.test", ID: 1}, {Name: "munchen.test", ID: 2}}}
	params := desk.Route{Params: hostParams(), Path: "hosts"}
	for search, want := range map[string]string{
		"MÜNCH": "[1]", "xn--mn": "[1]", "munch": "[2]", ".test": "[1 2]", "ä": "[]",
	} {
		q, err := params.Parse(&http.Request{URL: &url.URL{RawQuery: url.Values{"search": {search}}.Encode()}})
		if err != nil {
			t.Fatalf("%s: %v", search, err)
		}
		got := []schema.HostID{}
		x.choose(q, -1, func(k *hostKey) { got = append(got, k.ID) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", search, got, want)
		}
	}
}

// Hosts are filtered and ordered by their records.
func TestChooseHosts(t *testing.T) {
	x := &hostIndex{orders: map[string][]uint32{}, Hosts: []hostKey{
		{Name: "a.test", ID: 1, Known: 3, Class: schema.ClassQuality, cover: survey.CoverBudget},
		{Name: "b.test", ID: 2, Known: 1, Trouble: schema.TroubleRest},
		{Name: "c.other", ID: 3, Known: 3},
		{Name: "d.test", ID: 4, Known: 2, Class: schema.ClassStub},
	}}
	params := desk.Route{Params: hostParams(), Path: "hosts"}
	for query, want := range map[string]string{
		"":                                   "[1 2 3 4]",
		"desc=1":                             "[4 3 2 1]",
		"sort=pages_known":                   "[2 4 1 3]",
		"sort=pages_known&desc=1":            "[3 1 4 2]",
		"sort=class":                         "[2 3 1 4]",
		"sort=coverage&desc=1":               "[4 3 2 1]",
		"class=stub or blacklist":            "[4]",
		"class=quality or discovered":        "[1 2 3]",
		"cover=cut short":                    "[1]",
		"search=TEST":                        "[1 2 4]",
		"search=.test&class=stub":            "[4]",
		"reason=rest":                        "[2]",
		"search=nothing":                     "[]",
		"sort=domain&cover=listed":           "[2 3 4]",
		"sort=requests&cover=budget used up": "[1]",
	} {
		r, err := http.NewRequest("GET", "/?"+strings.ReplaceAll(query, " ", "+"), nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := params.Parse(r)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		got := []schema.HostID{}
		x.choose(q, -1, func(k *hostKey) { got = append(got, k.ID) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

// Hosts are sorted by their coverage as it is shown: stubs apart from blacklisted hosts, whatever the
// numbers say.
func TestCoverWords(t *testing.T) {
	words := coverWords{}
	shown := []survey.HostReport{
		{Cover: survey.CoverComplete, HostFigures: survey.HostFigures{Coverage: "complete"}},
		{Cover: survey.CoverListed, HostFigures: survey.HostFigures{Coverage: "stub"}},
		{Cover: survey.CoverListed, HostFigures: survey.HostFigures{Coverage: "blacklist"}},
		{Cover: survey.CoverDenied, HostFigures: survey.HostFigures{Coverage: "denied by robots.txt (1 of 54 pages)"}},
		{Cover: survey.CoverListed, HostFigures: survey.HostFigures{Coverage: "stub"}},
		{Cover: survey.CoverDenied, HostFigures: survey.HostFigures{Coverage: "denied by robots.txt, blocked (2 of 3 pages)"}},
	}
	numbers := []uint32{}
	for i := range shown {
		numbers = append(numbers, words.add(&shown[i]))
	}
	ranks, got := words.ranks(), []uint32{}
	for _, n := range numbers {
		got = append(got, ranks[n])
	}
	if want := "[3 1 0 2 1 2]"; fmt.Sprint(got) != want {
		t.Errorf("the ranks are %d, want %s", got, want)
	}
}
