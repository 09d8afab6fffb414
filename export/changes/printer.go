package changes

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/sumi-ripple/ripple/schema/sanitize"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A printer writes headings and tables.
type printer struct {
	w        io.Writer
	markdown bool
	limit    int // maximum rows of a list
	rows     int // rows of the current list so far
	table    *tabwriter.Writer
}

func (p *printer) title(text string) {
	if p.markdown {
		text = "# " + text
	}
	p.line(text)
}

func (p *printer) line(text string) { fmt.Fprintf(p.w, "%s\n\n", text) }

// note writes a remark below a table.
func (p *printer) note(text string) { fmt.Fprintf(p.w, "\n%s\n", text) }

func (p *printer) heading(text string) {
	if p.markdown {
		text = "## " + text
	}
	fmt.Fprintf(p.w, "\n%s\n\n", text)
}

// text makes a name or URL inert, and appends the decoded form of its host.
func (p *printer) text(s string) string {
	const most = 300
	if !p.markdown {
		return sanitize.Line(s, most) + weburl.Reading(s)
	}
	text := sanitize.Markdown(s, most)
	if reading := sanitize.Markdown(weburl.Reading(s), most); reading != "" {
		text += " " + reading
	}
	return text
}

func (p *printer) begin(columns ...string) {
	p.rows = 0
	p.table = tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	p.row(columns...)
	if p.markdown {
		fmt.Fprintln(p.w, strings.Repeat("|---", len(columns))+"|")
	}
}

func (p *printer) row(cells ...string) {
	if p.markdown {
		fmt.Fprintln(p.w, "| "+strings.Join(cells, " | ")+" |")
		return
	}
	fmt.Fprintln(p.table, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// more counts a row and reports whether it fits in the list.
func (p *printer) more() bool {
	p.rows++
	return p.rows <= p.limit
}

func (p *printer) end() {
	_ = p.table.Flush() // no effect in Markdown
	if p.rows > p.limit {
		p.note("and more; --limit -1 lists all")
	}
}
