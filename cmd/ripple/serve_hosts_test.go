package main

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// Answers of the desk have both forms of a host, or one for a host without A-labels.
func TestHostsShown(t *testing.T) {
	web, dir := rippletest.NewWeb(t), t.TempDir()
	foreignWeb(web)
	cfg := rippletest.WriteConfig(t, web, dir, false)
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

// Hosts are shown to people as everywhere: with the other form of an internationalised name.
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
