package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
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
		x.choose(q, func(k *hostKey) { got = append(got, k.ID) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", search, got, want)
		}
	}
}

// Hosts are filtered and ordered by their records.
func TestChooseHosts(t *testing.T) {
	x := &hostIndex{orders: map[string][]uint32{}, Hosts: []hostKey{
		{Name: "a.test", ID: 1, Known: 3, Class: schema.ClassQuality},
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
		"search=TEST":                        "[1 2 4]",
		"search=.test&class=stub":            "[4]",
		"reason=rest":                        "[2]",
		"search=nothing":                     "[]",
		"sort=domain&cover=listed":           "[1 2 3 4]",
		"sort=requests&cover=budget used up": "[]",
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
		x.choose(q, func(k *hostKey) { got = append(got, k.ID) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}
