package schema

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSQLStatements compares the statements with the text that they are cut from.
func TestSQLStatements(t *testing.T) {
	tables, indexes := SQLStatements()
	if want := strings.Count(SQL(), "\nCREATE TABLE "); len(tables) != want || want != 24 {
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

// TestColumnsStay: people's queries name columns, and copy tables as they are, so columns are only added at the end.
func TestColumnsStay(t *testing.T) {
	text, err := os.ReadFile("testdata/columns.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		names := strings.Fields(line)
		table, want := names[0], names[1:]
		if got := Columns(table); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("table %s has the columns %q; want first %q", table, got, want)
		}
	}
}
