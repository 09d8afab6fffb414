package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// A statement that needs too much memory is refused, and the reader process survives.
func TestServeStatementOfTooMuchMemory(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 2)), "state.bolt"))
	many := strings.TrimSuffix(strings.Repeat("hex(zeroblob(30000000)),", 40), ",")
	for _, tt := range []struct {
		sql  string
		code int
		want string
	}{
		{"SELECT " + many, http.StatusBadRequest, "the question needs too much memory: more than 128 MiB"},
		{"SELECT zeroblob(20000000), zeroblob(20000000)", http.StatusBadRequest, "more than 32 MiB in a row"},
		{"SELECT replace(hex(zeroblob(6000000)), '0', char(1))", http.StatusBadRequest, "more than 64 MiB in a row"},
		{"SELECT 1", http.StatusOK, `{"columns":["1"],"rows":[[1]],"more":false}`},
	} {
		code, text := d.send("query", `{"sql": "`+tt.sql+`"}`)
		if code != tt.code || !strings.Contains(string(text), tt.want) {
			t.Errorf("%.60s: %d %.200s, want %d %s", tt.sql, code, text, tt.code, tt.want)
		}
	}
}
