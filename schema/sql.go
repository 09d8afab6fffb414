package schema

import (
	_ "embed"
	"strings"
)

//go:embed terrain.sql
var terrainSQL string // read-only

// SQL returns the SQLite schema of the export as written: tables, comments and indexes.
func SQL() string { return terrainSQL }

// SQLStatements returns the statements that create the tables of the export, in order, and those that
// create the indexes, which are best run after loading.
func SQLStatements() (tables, indexes []string) {
	var b strings.Builder
	for line := range strings.Lines(terrainSQL) {
		if b.Len() == 0 && (strings.HasPrefix(line, "--") || line == "\n") {
			continue
		}
		b.WriteString(line)
		if !strings.HasSuffix(line, ";\n") {
			continue
		}
		statement := strings.TrimSuffix(b.String(), ";\n")
		b.Reset()
		if strings.HasPrefix(statement, "CREATE INDEX") {
			indexes = append(indexes, statement)
		} else {
			tables = append(tables, statement)
		}
	}
	return tables, indexes
}

// Columns returns the names of a table's columns, in order.
func Columns(table string) []string {
	_, rest, _ := strings.Cut(terrainSQL, "CREATE TABLE "+table+" (\n")
	body, _, _ := strings.Cut(rest, "\n)")
	var names []string
	for line := range strings.Lines(body) {
		if name := strings.Fields(line)[0]; name == strings.ToLower(name) { // key words are in capitals
			names = append(names, name)
		}
	}
	return names
}
