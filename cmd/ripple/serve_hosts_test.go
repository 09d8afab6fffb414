package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/schema"
)

// Hosts are chosen and ordered by what their records say.
func TestChooseHosts(t *testing.T) {
	x := &hostIndex{orders: map[string][]uint32{}, hosts: []hostKey{
		{name: "a.test", id: 1, known: 3, class: schema.ClassQuality},
		{name: "b.test", id: 2, known: 1, trouble: schema.TroubleRest},
		{name: "c.other", id: 3, known: 3},
		{name: "d.test", id: 4, known: 2, class: schema.ClassStub},
	}}
	params := desk.Route{Params: hostParams(), Path: "hosts"}
	for query, want := range map[string]string{
		"":                                   "[1 2 3 4]",
		"desc=1":                             "[4 3 2 1]",
		"sort=pages_known":                   "[2 4 1 3]",
		"sort=pages_known&desc=1":            "[3 1 4 2]",
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
		x.choose(q, func(k *hostKey) { got = append(got, k.id) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}
