package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestAnchors(t *testing.T) {
	const text = `<base href="/sub/"><p id="intro">x<a name=old>y</a><A ID='z&amp;q'></A><img name="no"><svg><g id="deep"/></svg>
<a href="#intro">1</a> <a href=" page#%C3%A9 ">2</a> <a href="https://b.test/#x">3</a> <a href="#">4</a>
<area href="/p#a#b"> <a href="mailto:a@b.test#x">5</a> <a href="plain">6</a> <a href="page#%C3%A9">again</a>
<!-- <i id="comment"> --><script>"<i id='script'>"</script><link href="/l#x">`
	rules, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	base, err := rules.Base("https://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	p := NewExtractor(Options{Anchors: true}).Extract([]byte(text), "text/html; charset=utf-8", base, "https://a.test/")
	var ids []uint64
	for _, id := range []string{"intro", "old", "z&q", "deep"} {
		ids = append(ids, HashID(id))
	}
	if !slices.Equal(p.Anchors.IDs, ids) || p.Anchors.Cut {
		t.Errorf("%d ids, want %d", len(p.Anchors.IDs), len(ids))
	}
	want := []Fragment{{"https://a.test/sub", "intro"}, {"https://a.test/sub/page", "%C3%A9"}, {"https://b.test/", "x"},
		{"https://a.test/sub", ""}, {"https://a.test/p", "a#b"}}
	if !slices.Equal(p.Anchors.Fragments, want) {
		t.Errorf("fragments %q, want %q", p.Anchors.Fragments, want)
	}
}

// A page with endless ids and fragments costs a bounded amount of memory.
func TestAnchorsAreBounded(t *testing.T) {
	rules, _ := weburl.NewRules(nil, weburl.DefaultMaxLength)
	base, _ := rules.Base("https://a.test/")
	var b strings.Builder
	for range maxIDs + 10 {
		b.WriteString("<i id=x>")
	}
	b.WriteString("<a href='#" + strings.Repeat("y", maxFragment+1) + "'>")
	p := NewExtractor(Options{Anchors: true}).Extract([]byte(b.String()), "text/html", base, "https://a.test/")
	if len(p.Anchors.IDs) != maxIDs || !p.Anchors.CutIDs || p.Anchors.Cut || len(p.Anchors.Fragments) != 0 {
		t.Errorf("%d ids, cut %v, %d fragments", len(p.Anchors.IDs), p.Anchors.CutIDs, len(p.Anchors.Fragments))
	}
	b.Reset()
	for i := range maxFragments + 1 {
		fmt.Fprintf(&b, "<a id=x%d href=#x%d>", i, i)
	}
	p = NewExtractor(Options{Anchors: true}).Extract([]byte(b.String()), "text/html", base, "https://a.test/")
	if len(p.Anchors.Fragments) != maxFragments || !p.Anchors.Cut || p.Anchors.CutIDs || len(p.Anchors.IDs) != maxFragments+1 {
		t.Errorf("%d fragments, cut %v, %d ids", len(p.Anchors.Fragments), p.Anchors.Cut, len(p.Anchors.IDs))
	}
}

func TestLeads(t *testing.T) {
	ids := map[uint64]bool{HashID("intro"): true, HashID("é"): true, HashID("100%"): true}
	has := func(id uint64) bool { return ids[id] }
	for fragment, want := range map[string]bool{
		"intro": true, "Intro": false, "%C3%A9": true, "é": true, "100%": true, "": true, "top": true, "TOP": true,
		"!/route": true, "/route": true, ":~:text=x": true, "intro:~:text=x": true, "gone:~:text=x": false, "gone": false,
		"%zz": false,
	} {
		if Leads(fragment, has) != want {
			t.Errorf("%q leads somewhere: %v", fragment, !want)
		}
	}
}
