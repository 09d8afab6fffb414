package schema

import (
	"errors"
	"testing"
)

// TestTransition holds the table of SPEC 4, told as sets.
func TestTransition(t *testing.T) {
	legal := map[State][]State{
		Discovered: {Queued, Blacklisted, Stubbed},
		Queued:     {Queued, Fetching, Blacklisted, Stubbed, DepthExceeded, RequestLimitHit, RateLimited, Unreachable, Failed},
		Fetching:   {Queued, Processed, DeadLink, Unreachable, RateLimited, Failed, ContentMismatch, Blacklisted, Stubbed},
	}
	for _, from := range States() {
		allowed := legal[from]
		if allowed == nil {
			allowed = []State{Queued, Blacklisted, Stubbed}
		}
		may := map[State]bool{}
		for _, to := range allowed {
			may[to] = true
		}
		for _, to := range States() {
			err := Transition(from, to)
			if (err == nil) != may[to] {
				t.Errorf("Transition(%s, %s) = %v; want legal: %t", from, to, err, may[to])
			}
			if err != nil && !errors.Is(err, ErrTransition) {
				t.Errorf("Transition(%s, %s): %v does not wrap ErrTransition", from, to, err)
			}
		}
	}
	if Transition(stateCount, Queued) == nil {
		t.Error("a state that does not exist may be left")
	}
}
