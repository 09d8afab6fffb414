package main

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/schema"
)

// Answers of the desk have both forms of a host, and one of a host without A-labels.
func TestHostsShown(t *testing.T) {
	web, dir := newWeb(t), t.TempDir()
	foreignWeb(web)
	cfg := writeConfig(t, web, dir, false)
	if text, err := ripple("crawl", cfg).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	d := serveState(t, filepath.Join(dir, "ripple.bolt"))
	const books, money = "xn--bcher-kva.test (bücher.test)", "xn--pypal-4ve.test (pаypal.test, mixed scripts)"
	for _, row := range d.json("hosts").(map[string]any)["hosts"].([]any) {
		h := row.(map[string]any)
		want := map[any]any{"xn--bcher-kva.test": books, "xn--pypal-4ve.test": money}[h["domain"]]
		if h["domain_shown"] != want {
			t.Errorf("%v is shown as %v; want %v", h["domain"], h["domain_shown"], want)
		}
	}
	for path, want := range map[string]any{
		"hosts/xn--pypal-4ve.test": money, "pages?url=" + url.QueryEscape("https://xn--bcher-kva.test/"): books,
		"hosts/a.test": nil,
	} {
		if got := d.json(path).(map[string]any)["domain_shown"]; got != want {
			t.Errorf("%s: domain_shown is %v; want %v", path, got, want)
		}
	}
	first := d.json("suggest?min_origins=0").(map[string]any)["discovered"].([]any)[0].(map[string]any)
	if shown := first["entity_shown"]; shown != books {
		t.Errorf("suggested as %v", shown)
	}
	if shown := d.json("graph").(map[string]any)["shown"].(map[string]any); len(shown) != 2 {
		t.Errorf("the map shows %v", shown)
	}
}

// A host is found by a part of its name as it reads, too.
func TestSearchHosts(t *testing.T) {
	x := &serve.HostIndex{Hosts: []serve.HostKey{{Name: "xn--mnchen-3ya.test", ID: 1}, {Name: "munchen.test", ID: 2}}}
	params := desk.Route{Params: serve.HostParams(), Path: "hosts"}
	for search, want := range map[string]string{
		"MÜNCH": "[1]", "xn--mn": "[1]", "munch": "[2]", ".test": "[1 2]", "ä": "[]",
	} {
		q, err := params.Parse(&http.Request{URL: &url.URL{RawQuery: url.Values{"search": {search}}.Encode()}})
		if err != nil {
			t.Fatalf("%s: %v", search, err)
		}
		got := []schema.HostID{}
		x.Choose(q, func(k *serve.HostKey) { got = append(got, k.ID) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", search, got, want)
		}
	}
}

// Hosts are chosen and ordered by what their records say.
func TestChooseHosts(t *testing.T) {
	x := &serve.HostIndex{Orders: map[string][]uint32{}, Hosts: []serve.HostKey{
		{Name: "a.test", ID: 1, Known: 3, Class: schema.ClassQuality},
		{Name: "b.test", ID: 2, Known: 1, Trouble: schema.TroubleRest},
		{Name: "c.other", ID: 3, Known: 3},
		{Name: "d.test", ID: 4, Known: 2, Class: schema.ClassStub},
	}}
	params := desk.Route{Params: serve.HostParams(), Path: "hosts"}
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
		x.Choose(q, func(k *serve.HostKey) { got = append(got, k.ID) })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

// Hosts are shown to a person as everywhere: with the other form of an internationalised name.
func TestShownNames(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt"))
	got := d.json("shown?hosts=a.test+xn--bcher-kva.test+xn--bcher-kva.test:8443+xn--a")
	want := map[string]any{"shown": map[string]any{"xn--bcher-kva.test": "xn--bcher-kva.test (bücher.test)",
		"xn--bcher-kva.test:8443": "xn--bcher-kva.test:8443 (bücher.test:8443)"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
