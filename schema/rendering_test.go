package schema_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func TestRenderingTell(t *testing.T) {
	tests := []struct {
		r       schema.Rendering
		signs   schema.Shell
		refused schema.Refusals
		want    string
	}{
		{0, schema.ShellMount, schema.Refusals{}, ""},
		{schema.Rendered, 0, schema.Refusals{}, "always"},
		{schema.Rendered, schema.ShellMount | schema.ShellBundle, schema.Refusals{},
			"empty mount element, script bundle"},
		{schema.Rendered | schema.RenderEmpty, schema.ShellMount,
			schema.Refusals{schema.RefusedPost: 2, schema.RefusedWebSocket: 1},
			"empty mount element; still empty; without 2 POST, 1 WebSocket"},
		{schema.Rendered, 0, schema.Refusals{schema.RefusedEventSource: 1, schema.RefusedWorker: 2, schema.RefusedHeader: 3},
			"always; without 1 EventSource, 2 worker, 3 own header"},
		{schema.Rendered | schema.RenderDenied | schema.RenderCut, schema.ShellBlank, schema.Refusals{},
			"nothing to see; some requests denied by robots.txt; not to the end"},
		{schema.RenderFailed, schema.ShellBlank, schema.Refusals{}, "nothing to see; as fetched: the browser failed"},
		{schema.RenderTimedOut, schema.ShellBlank, schema.Refusals{}, "nothing to see; as fetched: out of time"},
		{schema.Rendered | schema.RenderBudget, 0, schema.Refusals{}, "always; cut by a budget"},
		{schema.RenderFailed | schema.RenderOnce, 0, schema.Refusals{},
			"always; as fetched: the browser failed; tried once, as other pages of the host ran out of time"},
	}
	for _, tt := range tests {
		if got := tt.r.Tell(tt.signs, tt.refused); got != tt.want {
			t.Errorf("%b, %v: %q, want %q", tt.r, tt.signs, got, tt.want)
		}
	}
}
