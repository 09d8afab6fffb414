package amount_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema/amount"
)

func TestCommas(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1,000", 12847: "12,847", 1234567: "1,234,567", -1000: "-1,000", -999: "-999",
	} {
		if got := amount.Commas(n); got != want {
			t.Errorf("Commas(%d) = %q; want %q", n, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	tests := []struct {
		n               int
		one, many, want string
	}{
		{0, "page", "pages", "0 pages"},
		{1, "page", "pages", "1 page"},
		{4751, "page", "", "4,751 pages"},
		{2, "entity", "", "2 entities"},
		{1, "entity", "", "1 entity"},
		{1, "host waits", "hosts wait", "1 host waits"},
		{1000, "host waits", "hosts wait", "1,000 hosts wait"},
	}
	for _, tt := range tests {
		if got := amount.Of(tt.n, tt.one, tt.many); got != tt.want {
			t.Errorf("Of(%d, %q, %q) = %q; want %q", tt.n, tt.one, tt.many, got, tt.want)
		}
	}
}
