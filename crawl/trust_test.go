package crawl

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// TestTrust has hosts answer (a), send pages (p) and fail (f), and shows their standing after each:
// unknown (-), answering (=) or proven (+).
func TestTrust(t *testing.T) {
	tests := []struct{ name, events, want string }{
		{"pages", "ppp", "+++"},
		{"never answers", "fff", "---"},
		{"answers at last", "ffap", "--=+"},
		{"no page ever", "aafa", "==-="},
		{"fails once", "pfpp", "+-++"},
		{"fails twice", "pfpfpp", "+-+-=+"},
		{"no page is owed by answers", "pfpfaaapp", "+-+-====+"},
		{"fails again before it is proven", "pfpfpfpp", "+-+-=-=+"},
		{"fails three times", "pfpfppfpppp", "+-+-=+-===+"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var all trust
			id, got := schema.HostID(64*i+1), ""
			for _, event := range tt.events {
				map[rune]func(schema.HostID){'a': all.answered, 'p': all.proved, 'f': all.failed}[event](id)
				got += "+=-"[all.standing(id):][:1]
			}
			if got != tt.want {
				t.Errorf("%s: %s, want %s", tt.events, got, tt.want)
			}
		})
	}
}

// However often a host fails, it can be proven again.
func TestTrustComesBack(t *testing.T) {
	var all trust
	for range 30 {
		for n := 0; all.standing(1) != slots.Proven; n++ {
			if all.proved(1); n > 1<<maxBreaches {
				t.Fatal("not proven any more")
			}
		}
		all.failed(1)
	}
}
