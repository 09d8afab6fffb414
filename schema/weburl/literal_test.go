package weburl_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestLiteral(t *testing.T) {
	tests := []struct{ host, want string }{
		{"a.test", ""},
		{"a.test:8080", ""},
		{"192.0.2.1", "192.0.2.1"},
		{"192.0.2.1:8080", "192.0.2.1"},
		{"[2001:db8::1]", "2001:db8::1"},
		{"[2001:db8::1]:8080", "2001:db8::1"},
		{"[::ffff:192.0.2.1]", "192.0.2.1"},
	}
	for _, tt := range tests {
		if got := weburl.Literal(tt.host); got != tt.want {
			t.Errorf("Literal(%q) = %q, want %q", tt.host, got, tt.want)
		}
	}
}
