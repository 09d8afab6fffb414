package schema

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of the documentation")

// TestDictionary compares the data dictionary with the SQLite schema. Run with -update to write it.
func TestDictionary(t *testing.T) {
	const path = "../cmd/ripple/docs/data.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(text), "\n## `")
	if !found && !*update {
		t.Fatalf("%s has no dictionary", path)
	}
	want := strings.TrimRight(head, "\n") + "\n" + dictionary(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s differs from the schema; run go test ./schema -run TestDictionary -update", path)
	}
}

var (
	createTable = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	column      = regexp.MustCompile(`^ {4}([a-z_0-9]+) +(INTEGER|TEXT|REAL)([^-]*?),? *(?:-- (.*))?$`)
	references  = regexp.MustCompile(`REFERENCES (\w+)\(`)
)

// dictionary lists every table and column of the schema in Markdown.
func dictionary(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	var about []string
	for line := range strings.Lines(SQL()) {
		line = strings.TrimSuffix(line, "\n")
		switch m := createTable.FindStringSubmatch(line); {
		case m != nil:
			fmt.Fprintf(&b, "\n## `%s`\n\n", m[1])
			if len(about) > 0 {
				b.WriteString(strings.Join(about, "\n") + "\n\n")
			}
			about = nil
		case strings.HasPrefix(line, "-- "):
			about = append(about, strings.TrimPrefix(line, "-- "))
		case line == "":
			about = nil
		default:
			if c := column.FindStringSubmatch(line); c != nil {
				b.WriteString(item(c[1], c[2], c[3], c[4]))
			}
		}
	}
	return b.String()
}

// item formats a column as a list item: its type, what it references, and its meaning.
func item(name, kind, rest, about string) string {
	kind = strings.ToLower(kind)
	if r := references.FindStringSubmatch(rest); r != nil {
		kind = "id in " + r[1]
	}
	if !strings.Contains(rest, "NOT NULL") && !strings.Contains(rest, "PRIMARY KEY") {
		kind += ", may be NULL"
	}
	if about != "" {
		about = ": " + about
	}
	return fmt.Sprintf("- `%s` (%s)%s\n", name, kind, about)
}
