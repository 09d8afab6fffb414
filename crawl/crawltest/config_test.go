package crawltest

import "testing"

// A test's own keys are kept, and the rest of the table is completed.
func TestComplete(t *testing.T) {
	lines := func() []string { return []string{"a = 1", "b = 2"} }
	tests := []struct{ name, text, want string }{
		{"no such table", "[other]\na = 3\n", "[table]\na = 1\nb = 2\n[other]\na = 3\n"},
		{"nothing said", "[table]\nc = 3\n[other]\na = 3\n", "[table]\na = 1\nb = 2\nc = 3\n[other]\na = 3\n"},
		{"one said", "[other]\n[table]\nb = 3\n", "[other]\n[table]\na = 1\nb = 3\n"},
		{"all said", "[table]\na = 3\nb = 4\n", "[table]\na = 3\nb = 4\n"},
		{"another's key", "[table]\nab = 3\n[other]\na = 3\n", "[table]\na = 1\nb = 2\nab = 3\n[other]\na = 3\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := complete(tt.text, "table", lines()...); got != tt.want {
				t.Errorf("complete = %q, want %q", got, tt.want)
			}
		})
	}
}
