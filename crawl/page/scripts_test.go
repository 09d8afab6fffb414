package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// The scripts that a page names, and what browsers do not load or may spell in another way.
func TestScripts(t *testing.T) {
	rules, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	base, err := rules.Base("https://a.test/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ body, want string }{
		{`<script src="/a.js"></script><script src=b.js defer></script><script SRC='/a.js#x'></script>`, "/a.js /dir/b.js"},
		{`<script type=module src=//cdn.test/m.js></script>`, "https://cdn.test/m.js"},
		{`<script type="text/JavaScript" src=/a.js></script>`, "/a.js"},
		{`<link rel="modulepreload" href=/m.js><link rel=preload as=script href=/p.js>`, "/m.js /p.js"},
		{`<link rel=prefetch as=script href=/n.js><link rel=preload as=style href=/s.css><link rel=stylesheet href=/t.css>`, ""},
		{`<script nomodule src=/old.js></script><script type=importmap src=/i.json></script><script>1</script>`, ""},
		{`<noscript><script src=/n.js></script></noscript><template><script src=/t.js></script></template>
			<!-- <script src=/c.js></script> --><svg><script src=/v.js></script></svg><script src=/a.js></script>`, "/a.js"},
		{`<base href="/app/"><base href="/no/"><script src=a.js></script>`, "/app/a.js"},
		{`<script src="/a.js?v=1"></script><script src="/%61.js"></script><script src="/ü.js"></script>`, ""},
		{`<script src="http://a.test/a.js"></script><script src="data:,1"></script><script src></script>`, ""},
		{`<script src=/1.js></script><script src=/2.js></script><script src=/3.js></script><script src=/4.js></script>`,
			"/1.js /2.js /3.js"},
	} {
		var want []string
		for _, to := range strings.Fields(tt.want) {
			if strings.HasPrefix(to, "/") {
				to = "https://a.test" + to
			}
			want = append(want, to)
		}
		got := NewExtractor(Options{}).Scripts([]byte(tt.body), "text/html; charset=utf-8", base, 3)
		if !slices.Equal(got, want) {
			t.Errorf("%s names %q, want %q", tt.body, got, want)
		}
	}
}

// FuzzScripts: whatever a page contains, the addresses are plain URLs of https, each once, and no more than permitted.
func FuzzScripts(f *testing.F) {
	f.Add(`<script src="/a.js"></script><base href="//b.test/"><link rel=modulepreload href=m.js>`)
	f.Add(`<template><script src=/t.js></template></noscript><svg><script src=/v.js />`)
	rules, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		f.Fatal(err)
	}
	base, err := rules.Base("https://a.test/")
	if err != nil {
		f.Fatal(err)
	}
	extractor := NewExtractor(Options{})
	f.Fuzz(func(t *testing.T, body string) {
		seen := map[string]bool{}
		for _, script := range extractor.Scripts([]byte(body), "text/html", base, 5) {
			u, err := rules.Parse(script)
			if err != nil || u.Form != script || u.HTTP || strings.ContainsAny(script, "?#%") || seen[script] {
				t.Errorf("%q names %q: %+v, %v", body, script, u, err)
			}
			seen[script] = true
		}
		if len(seen) > 5 {
			t.Errorf("%q names %d scripts", body, len(seen))
		}
	})
}
