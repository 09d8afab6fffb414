package schema_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func TestRenderingTell(t *testing.T) {
	tests := []struct {
		r     schema.Rendering
		signs schema.Shell
		want  string
	}{
		{0, schema.ShellMount, ""},
		{schema.Rendered, 0, "always"},
		{schema.Rendered, schema.ShellMount | schema.ShellBundle, "empty mount element, script bundle"},
		{schema.Rendered | schema.RenderDenied | schema.RenderCut, schema.ShellBlank,
			"nothing to see; some requests denied by robots.txt; not to the end"},
		{schema.RenderFailed, schema.ShellBlank, "nothing to see; as fetched: the browser failed"},
	}
	for _, tt := range tests {
		if got := tt.r.Tell(tt.signs); got != tt.want {
			t.Errorf("%b, %v: %q, want %q", tt.r, tt.signs, got, tt.want)
		}
	}
}
