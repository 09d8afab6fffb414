// Package summary writes a survey as one page of Markdown: the findings of a run, and the gaps in
// it. For an older run it omits figures that are no longer known, and says so.
//
// The page has fixed parts in a fixed order, for programs that read it. They are followed by a
// section on coverage, which names every cut host with the key that cut it, and by sections on who
// links to whom, on broken links and on answers. Long lists are folded. All except the list of cut
// hosts are limited, and give the number of omitted items. Text from servers is escaped to be inert
// in any Markdown renderer and in a terminal: no HTML, no links, no table cells, no control
// characters.
package summary
