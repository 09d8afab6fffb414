package answer

import (
	"strings"
	"testing"
)

func TestReadsOnly(t *testing.T) {
	tests := []struct {
		sql string
		ok  bool
	}{
		{"SELECT 1", true}, {"select 1;", true}, {" /* ; */ WITH x AS (SELECT 1) SELECT * FROM x -- ; DROP", true},
		{"(SELECT 1)", true}, {"VALUES (1)", true}, {"EXPLAIN DELETE FROM pages", true},
		{"SELECT ';', \";\", `;`, [;]", true},
		{"SELECT 'it''s; fine'", true}, {"SELECT 1; ;; -- end", true},
		{"", false}, {";", false}, {"SELECT 1; SELECT 2", false}, {"SELECT '; SELECT 2", true},
		{"SELECT 'a''; '; DELETE FROM pages", false},
		{"DELETE FROM pages", false}, {"PRAGMA query_only", false}, {"ATTACH 'x' AS x", false}, {"SELECTED", false},
		{"/* SELECT */ DROP TABLE pages", false}, {"'SELECT'", false}, {"SELECT 1\x00; DROP TABLE pages", false},
		{"--\nDROP TABLE pages", false},
	}
	for _, tt := range tests {
		if err := ReadsOnly(tt.sql); (err == nil) != tt.ok {
			t.Errorf("readsOnly(%q): %v", tt.sql, err)
		}
	}
}

// FuzzSplitSQL checks that splitting keeps every byte except comments and separators: a text
// without them is one statement.
func FuzzSplitSQL(f *testing.F) {
	for _, s := range []string{"SELECT 1", "a;b", "'a;b';c", "/*;*/x", "--;\nx", "[;]", "\"", "'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := splitSQL(s)
		if len(all) > strings.Count(s, ";")+1 {
			t.Errorf("%q is %d statements", s, len(all))
		}
		if !strings.ContainsAny(s, ";") && !strings.Contains(s, "--") && !strings.Contains(s, "/*") && all[0] != s {
			t.Errorf("%q became %q", s, all)
		}
	})
}
