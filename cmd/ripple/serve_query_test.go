package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// The list of pages has the rows, order and filters of the same question in SQL.
func TestPagesAgreeWithSQL(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt"))
	const columns = "url,title,state,status_code,content_type,visited_at,response_ms,content_length,error_message,last_run"
	for said, sql := range map[string]string{
		"":                          "",
		"&sort=url&desc=1":          "ORDER BY url DESC",
		"&sort=title":               "ORDER BY title IS NULL, title, id",
		"&sort=content_length":      "ORDER BY content_length IS NULL, content_length, id",
		"&state=processed&sort=url": "WHERE state = 'processed' ORDER BY url",
		"&status_code=4xx":          "WHERE status_code BETWEEN 400 AND 499",
		"&search=h1":                "WHERE instr(url, 'h1') OR instr(title, 'h1')",
		"&domain=h0.gen.test":       "WHERE domain = 'h0.gen.test'",
		"&class=discovered&depth=1": "WHERE class = 'discovered' AND id IN " +
			"(SELECT page_id FROM page_depths GROUP BY 1 HAVING min(depth) = 1)",
		"&content_type=text%2Fhtml": "WHERE content_type = 'text/html'",
		"&run=1&sort=response_ms":   "WHERE visited_at IS NOT NULL ORDER BY response_ms, id",
		"&sort=links_in&desc=1":     "ORDER BY (SELECT count(*) FROM links WHERE to_page_id = pages.id) DESC, id DESC",
	} {
		list := d.json("pages/list?limit=5000&columns=" + columns + said).(map[string]any)
		_, text := d.send("query", fmt.Sprintf(`{"sql": %q}`, "SELECT "+columns+" FROM pages "+sql))
		var want struct{ Rows []any }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(want.Rows), list["rows"]); diff != "" {
			t.Errorf("%s: %s", said, diff)
		}
	}
}
