package summary

import "github.com/sumi-ripple/ripple/schema/amount"

// items writes a list with its title, unless it is empty: the first items openly, the others folded.
func (p *page) items(title, noun string, n int, say func(i int) string) {
	if n == 0 {
		return
	}
	p.line("")
	p.line(title)
	p.fold(noun, n, func(from, to int) {
		for i := from; i < to; i++ {
			p.line("- " + say(i))
		}
	})
}

// rows writes a table of n rows: the first openly, the others folded. An empty table is replaced by a
// word.
func (p *page) rows(columns []string, noun string, n int, cells func(i int) []string) {
	if n == 0 {
		p.line("None.")
		return
	}
	p.fold(noun, n, func(from, to int) {
		p.table(columns...)
		for i := from; i < to; i++ {
			p.row(cells(i)...)
		}
	})
}

// fold calls write for the first of n items, and then for the others inside a foldable element.
func (p *page) fold(noun string, n int, write func(from, to int)) {
	write(0, min(n, listed))
	if n <= listed {
		return
	}
	p.line("")
	p.linef("<details><summary>%s</summary>", amount.Of(n-listed, "more "+noun, ""))
	p.line("")
	write(listed, n)
	p.line("")
	p.line("</details>")
}
