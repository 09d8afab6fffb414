package serve

import (
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
)

// Everything that "ripple export" writes can be ordered at the desk.
func TestDeskOffers(t *testing.T) {
	offered := map[string]desk.Format{}
	for _, f := range deskExports("state.bolt").Formats {
		if f.Name == "" || f.Title == "" || f.For == "" {
			t.Errorf("an offer lacks words: %+v", f)
		}
		offered[f.Name] = f
	}
	for _, f := range output.Formats() {
		if o, ok := offered[f.Flag]; f.Flag != "" && !f.AtEnd && (!ok || o.Graph != (f.Graph != nil)) {
			t.Errorf("--%s is offered as %+v", f.Flag, o)
		}
	}
	if _, ok := offered["summary"]; !ok {
		t.Error("the summary is not offered")
	}
}

// Orders become flags, and nothing else.
func TestExportArgs(t *testing.T) {
	got := exportArgs(desk.Order{
		Format: "csv", Level: "host --force", Run: "-1", Kinds: []string{"me", "feed"},
		Without: []string{"nav", "footer"}, MinWeight: 3, With: []string{"inlinks"},
	}, "s.bolt", "out")
	for _, arg := range got {
		if arg == "--force" || arg == "-1" {
			t.Errorf("%q has a flag of its own: %s", got, arg)
		}
	}
	for _, want := range []string{"--without=nav,footer", "--kinds=me,feed", "--with=inlinks"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
	got = exportArgs(desk.Order{Format: "opml", With: []string{"inlinks"}}, "s.bolt", "out")
	if slices.Contains(got, "--with=inlinks") {
		t.Errorf("OPML has no links, and is refused with them: %q", got)
	}
	got = exportArgs(desk.Order{Format: "summary", Run: "1"}, "s.bolt", "out")
	if !slices.Contains(got, "--run=1") {
		t.Errorf("the summary of run 1: %q", got)
	}
}
