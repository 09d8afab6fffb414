package config

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func TestBudget(t *testing.T) {
	text := "[crawler]\nmax-domain-requests = 7\n[user-agent]\ncrawler-name = \"T\"\n" +
		"[[quality]]\ndomain = \"*.a.test\"\nseeds = [\"https://a.test/\"]\n" +
		"[[quality]]\ndomain = \"b.a.test\"\nseeds = [\"https://b.a.test/\"]\nmax-requests = 3\n"
	cfg, _, err := Parse([]byte(text), t.TempDir(), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		host string
		most int
		key  string
	}{
		{"a.test", 7, "max-domain-requests = 7"},
		{"b.a.test", 3, "max-requests = 3"},
		{"elsewhere.test", 7, "max-domain-requests = 7"},
	}
	for _, tt := range tests {
		if got := cfg.Budget(tt.host); got != tt.most {
			t.Errorf("Budget(%q) = %d, want %d", tt.host, got, tt.most)
		}
		if got := cfg.BudgetKey(tt.host); got != tt.key {
			t.Errorf("BudgetKey(%q) = %q, want %q", tt.host, got, tt.key)
		}
		h := &schema.Host{Name: tt.host, RunRequests: tt.most - 2}
		for open, want := range []bool{false, false, true, true} {
			if got := cfg.UsedUp(h, open); got != want {
				t.Errorf("of %s, %d requests and %d open: used up is %v, want %v", tt.key, h.RunRequests, open, got, want)
			}
		}
	}
}
