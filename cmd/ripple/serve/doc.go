// Package serve answers questions about a terrain. Every question and command is declared once, in
// one table: its name, its parameters with their types, defaults and limits, what it returns, and
// the functions that answer it. Three servers are made from the table:
//
//   - the control socket of a running crawl, whose answers are those of a [Crawl];
//   - the process that reads a state file or a copy of one, see [ReadTerrain];
//   - the desk of a state file, which forwards questions to these two, and its openapi.json.
//
// Decisions and exports that are ordered at the desk belong to this package too, and so does the
// feed of visits. The web server is package desk.
package serve
