package schema

import (
	"strings"
	"testing"
)

// TestSQLStatements compares the statements with the text that they are cut from.
func TestSQLStatements(t *testing.T) {
	tables, indexes := SQLStatements()
	if want := strings.Count(SQL(), "\nCREATE TABLE "); len(tables) != want || want != 23 {
		t.Errorf("%d tables; want %d", len(tables), want)
	}
	if want := strings.Count(SQL(), "\nCREATE INDEX "); len(indexes) != want {
		t.Errorf("%d indexes; want %d", len(indexes), want)
	}
	for _, s := range append(tables, indexes...) {
		if !strings.HasPrefix(s, "CREATE ") || strings.Contains(s, ";\n") {
			t.Errorf("statement %q", s)
		}
	}
}
