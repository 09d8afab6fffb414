// Package summary writes a survey as one page of Markdown: what a run found, and
// what it did not. Of an older run it leaves out what is not known any more, and
// says so.
//
// The page has fixed parts in a fixed order, for programs that read it, followed by a
// section on coverage that names every host that was cut, with the key that cut it, and
// by who links to whom, which links lead nowhere, and what was answered. Long lists are
// folded; all but that of the hosts that were cut end somewhere, and say how much is
// left out. What servers wrote is escaped so that it is inert in any Markdown renderer
// and in a terminal: no HTML, no links, no table cells, no control characters.
package summary
