package summary

import "github.com/sumi-ripple/ripple/schema/amount"

// items writes a list with its title, if it holds anything: the first items openly, the
// others in a fold.
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

// rows writes a table of n rows: the first openly, the others in a fold. One of none is
// a word.
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

// fold has the first of n items written openly, and the others so that they unfold.
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
