package page

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func TestPlace(t *testing.T) {
	tests := []struct {
		in   string
		want schema.Place
	}{
		{`<a href=x>`, schema.PlaceBody},
		{`<main><a href=x>`, schema.PlaceMain},
		{`<main><aside><div><a href=x>`, schema.PlaceAside},
		{`<footer><nav></nav><a href=x>`, schema.PlaceFooter},
		{`<header><nav><section><a href=x>`, schema.PlaceNav},
		{`<div><nav></div><a href=x>`, schema.PlaceBody},
		{`<main><nav><div></nav><a href=x>`, schema.PlaceMain},
		{`<nav></div></main></section><a href=x>`, schema.PlaceNav},
		{`<NAV/><a href=x>`, schema.PlaceNav},
		{`<nav><a href=x></a></nav><header><a href=x></a></header>`, schema.PlaceHeader},
		{`<div role=navigation><a href=x>`, schema.PlaceNav},
		{`<div role=main><div><a href=x>`, schema.PlaceMain},
		{`<nav role="main"><a href=x>`, schema.PlaceMain},
		{`<nav role="note"><a href=x>`, schema.PlaceNav},
		{`<main><ul ROLE=" x Complementary banner"><li><a href=x>`, schema.PlaceAside},
		{`<main><ul role=banner><li><ul></ul><a href=x>`, schema.PlaceHeader},
		{`<main><UL role=contentinfo></ul><a href=x>`, schema.PlaceMain},
		{`<main><x-foot role=contentinfo><p></p><a href=x>`, schema.PlaceFooter},
		{`<main><li role=navigation><a href=x>`, schema.PlaceMain}, // its end is unknown
		{`<main><br role=navigation><a href=x>`, schema.PlaceMain},
		{`<main><iframe role=navigation src=y></iframe><a href=x>`, schema.PlaceMain},
		{`<main><textarea role=banner></textarea><a href=x>`, schema.PlaceMain},
		{`<main><template role=banner>x</template><a href=x>`, schema.PlaceMain},
		{`<main><svg><g role=navigation></svg><a href=x>`, schema.PlaceMain},
		{`<ul></ul><p role=note><a href=x role=navigation>`, schema.PlaceBody},
	}
	for _, tt := range tests {
		links := extract(t, tt.in, Options{}).Links
		if len(links) != 1 || links[0].Place != tt.want {
			t.Errorf("%s: %+v, want place %v", tt.in, links, tt.want)
		}
	}
}

// TestManyRoles: the number of tracked names with a role is limited.
func TestManyRoles(t *testing.T) {
	for n, want := range map[int]schema.Place{maxOthers: schema.PlaceNav, maxOthers + 1: schema.PlaceMain} {
		src := "<main>"
		for i := range n {
			src += fmt.Sprintf("<x-%d role=navigation></x-%d>", i, i)
		}
		src += fmt.Sprintf("<x-%d role=navigation><a href=x>", n-1)
		if links := extract(t, src, Options{}).Links; len(links) != 1 || links[0].Place != want {
			t.Errorf("%d names: %+v, want place %v", n, links, want)
		}
	}
}
