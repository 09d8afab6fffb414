package summary

import (
	"bufio"
	"fmt"
	"strings"
)

// A markdown writes the lines and tables of a page. The writer's Flush reports the first error.
type markdown struct{ out *bufio.Writer }

func (m markdown) line(s string) {
	m.out.WriteString(s)
	m.out.WriteByte('\n')
}

func (m markdown) linef(format string, args ...any) { m.line(fmt.Sprintf(format, args...)) }

// row writes a row of a table. The cells must be inert.
func (m markdown) row(cells ...string) { m.line("| " + strings.Join(cells, " | ") + " |") }

// table begins a table.
func (m markdown) table(columns ...string) {
	m.row(columns...)
	rule := "|"
	for _, c := range columns {
		rule += strings.Repeat("-", len(c)+2) + "|"
	}
	m.line(rule)
}

// field writes a line of the head. It ends with two spaces, which force a line break.
func (m markdown) field(name, value string) { m.line("**" + name + ":** " + value + "  ") }
