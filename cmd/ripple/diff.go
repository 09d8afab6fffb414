package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

type diffOptions struct {
	from, to uint32
	limit    limit
	json     bool
	markdown bool
	gexf     string
	force    bool
}

func (o *diffOptions) addFlags(f *pflag.FlagSet) {
	f.Uint32Var(&o.from, "from", 0, "the earlier run `N` (default: the one before the later)")
	f.Uint32Var(&o.to, "to", 0, "the later run `N` (default: the newest)")
	addLimit(f, &o.limit, 50, "pages, links and hosts, each")
	f.BoolVar(&o.json, "json", false, "print JSON, which lists all")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown")
	f.StringVar(&o.gexf, "gexf", "", "write a graph to `FILE`, coloured by what changed, instead")
	f.BoolVar(&o.force, "force", false, "replace a file that Ripple did not write")
}

func newDiffCommand(a *app) *cobra.Command {
	var opts diffOptions
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Show what came, went and changed between two runs",
		Long: `Show the pages, links and hosts that came, went or changed between two runs, and
how many links of each origin lead to dead pages. What the later run did not look
at again stands as the earlier one saw it.`,
		Example: "  ripple diff\n  ripple diff --from 1 --to 4 --markdown > changes.md\n  ripple diff --json | jq '.pages[] | select(.change == \"went\") | .url'",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDiff(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runDiff(ctx context.Context, a *app, opts diffOptions) error {
	if opts.json && opts.markdown || opts.gexf != "" && (opts.json || opts.markdown) {
		return usage("--json, --markdown and --gexf are forms of one thing; use one of them")
	}
	if opts.gexf != "" {
		if err := (&format{check: replaceable(isOurDiffGexf)}).refuseNamed(opts.gexf, opts.force); err != nil {
			return err
		}
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	from, to, err := opts.runs(r.Runs())
	if err != nil {
		return err
	}
	d, err := r.Diff(from, to)
	if errors.Is(err, survey.ErrRuns) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	if opts.gexf != "" {
		err := whole.Stream(ctx, opts.gexf, func(w io.Writer) error { return writeDiffGexf(w, r.Survey, d) })
		if err == nil {
			fmt.Fprintln(a.stdout, shown(opts.gexf))
		}
		return err
	}
	out := bufio.NewWriter(a.stdout)
	if opts.json {
		err = writeDiffJSON(out, r.Survey, d)
	} else {
		err = writeDiffText(out, r.Survey, d, opts)
	}
	return errors.Join(err, out.Flush())
}

// runs chooses the two runs.
func (o *diffOptions) runs(all []schema.Run) (from, to schema.RunID, err error) {
	if len(all) < 2 {
		return 0, 0, hint(errors.New("there is one run only, and nothing to compare it with"), "\"ripple crawl\" begins the next one once it is completed")
	}
	to = all[len(all)-1].ID
	if o.to != 0 {
		to = schema.RunID(o.to)
	}
	if o.from != 0 {
		return schema.RunID(o.from), to, nil
	}
	for _, run := range all {
		if run.ID < to {
			from = run.ID
		}
	}
	if from == 0 {
		return 0, 0, usage("there is no run before run #%d", to)
	}
	return from, to, nil
}

// A diffPage is a page that is not as it was, with the names of the SQL columns.
type diffPage struct {
	URL    string   `json:"url"`
	Change string   `json:"change"`
	What   []string `json:"what,omitempty"`
	Before *diffNow `json:"before"` // null: the run did not visit it
	After  *diffNow `json:"after"`
}

type diffNow struct {
	State  string `json:"state"`
	Status int    `json:"http_status"`
	Title  string `json:"title,omitempty"`
	SHA256 string `json:"body_sha256,omitempty"`
}

func newDiffNow(v *schema.Visit) *diffNow {
	if v == nil {
		return nil
	}
	n := &diffNow{State: v.State.String(), Status: v.Status, Title: v.Title}
	if v.SHA256 != [32]byte{} {
		n.SHA256 = hex.EncodeToString(v.SHA256[:])
	}
	return n
}

type diffLink struct {
	From   string `json:"from_url"`
	To     string `json:"to_url"`
	Kind   string `json:"kind"`
	Change string `json:"change"`
}

type diffHost struct {
	Domain  string `json:"domain"`
	Change  string `json:"change"`
	Came    int    `json:"pages_came"`
	Went    int    `json:"pages_went"`
	Changed int    `json:"pages_changed"`
}

type diffRot struct {
	Origin string `json:"quality_origin"`
	Links  int    `json:"links"`
	Dead   int    `json:"dead"`
	New    int    `json:"newly_dead"`
	Mended int    `json:"mended"`
}

type diffHead struct {
	From    diffRun    `json:"from"`
	To      diffRun    `json:"to"`
	Pages   diffCount  `json:"page_counts"`
	Links   diffCount  `json:"link_counts"`
	Hosts   []diffHost `json:"hosts"`
	LinkRot []diffRot  `json:"link_rot"`
}

type diffRun struct {
	ID     int    `json:"run_id"`
	Status string `json:"status"`
}

type diffCount struct {
	Came    int `json:"came"`
	Went    int `json:"went"`
	Changed int `json:"changed"`
}

func newDiffHead(s *survey.Survey, d *survey.Diff) (*diffHead, error) {
	sum, err := d.Sum()
	if err != nil {
		return nil, err
	}
	h := &diffHead{
		From: diffRun{int(d.From.ID), d.From.Status.String()}, To: diffRun{int(d.To.ID), d.To.Status.String()},
		Pages: diffCount{sum.Came, sum.Went, sum.Changed}, Links: diffCount{Came: sum.LinksCame, Went: sum.LinksWent},
		Hosts: []diffHost{}, LinkRot: []diffRot{},
	}
	for _, c := range sum.Hosts {
		change := c.Change.String()
		if c.Change == survey.Same {
			change = survey.Changed.String()
		}
		h.Hosts = append(h.Hosts, diffHost{c.Name, change, c.Came, c.Went, c.Changed})
	}
	for _, r := range sum.Rot {
		h.LinkRot = append(h.LinkRot, diffRot{s.Terrain().Origins()[r.Origin].Name, r.Links, r.Dead, r.New, r.Mended})
	}
	return h, nil
}

func newDiffPage(c *survey.PageChange) diffPage {
	return diffPage{URL: c.URL, Change: c.Change.String(), What: c.What, Before: newDiffNow(c.Before), After: newDiffNow(c.After)}
}

func newDiffLink(c *survey.LinkChange) diffLink {
	return diffLink{c.FromURL, c.ToURL, c.Link.Kinds.First().String(), c.Change.String()}
}

// writeDiffJSON writes one object, its lists one line for each entry, so that a
// large comparison is never held in memory.
func writeDiffJSON(w *bufio.Writer, s *survey.Survey, d *survey.Diff) error {
	h, err := newDiffHead(s, d)
	if err != nil {
		return err
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, _ = w.Write(head[:len(head)-1])
	first := true
	entry := func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if !first {
			_ = w.WriteByte(',')
		}
		first = false
		_, err = fmt.Fprintf(w, "\n%s", line)
		return err
	}
	_, _ = w.WriteString(`,"pages":[`)
	if err := d.EachPage(func(c *survey.PageChange) error { return entry(newDiffPage(c)) }); err != nil {
		return err
	}
	first = true
	_, _ = w.WriteString("\n],\"links\":[")
	if err := d.EachLink(func(c *survey.LinkChange) error { return entry(newDiffLink(c)) }); err != nil {
		return err
	}
	_, err = w.WriteString("\n]}\n")
	return err
}

// errEnough ends a walk over changes of which enough are listed.
var errEnough = errors.New("enough")

// writeDiffText writes for a person, in Markdown or without it.
func writeDiffText(w io.Writer, s *survey.Survey, d *survey.Diff, opts diffOptions) error {
	h, err := newDiffHead(s, d)
	if err != nil {
		return err
	}
	p := diffPrinter{w: w, markdown: opts.markdown, limit: int(opts.limit)}
	p.title(fmt.Sprintf("From run #%d (%s) to run #%d (%s)", h.From.ID, h.From.Status, h.To.ID, h.To.Status))
	if h.To.Status != schema.RunCompleted.String() {
		p.line("The later run is not completed: what it has not looked at again stands.")
	}
	p.begin("", "came", "went", "changed")
	p.row("pages", commas(h.Pages.Came), commas(h.Pages.Went), commas(h.Pages.Changed))
	p.row("links", commas(h.Links.Came), commas(h.Links.Went), "")
	p.end()
	if len(h.LinkRot) > 0 {
		p.heading("Link rot")
		p.begin("origin", "links checked", "dead", "newly dead", "mended")
		for _, r := range h.LinkRot {
			p.row(p.text(r.Origin), commas(r.Links), commas(r.Dead), commas(r.New), commas(r.Mended))
		}
		p.end()
	}
	if len(h.Hosts) > 0 {
		p.heading("Hosts")
		p.begin("host", "", "pages came", "went", "changed")
		for _, c := range h.Hosts {
			if p.more() {
				p.row(p.text(c.Domain), c.Change, commas(c.Came), commas(c.Went), commas(c.Changed))
			}
		}
		p.end()
	}
	return p.changes(d, h)
}

// A diffPrinter writes headings and tables.
type diffPrinter struct {
	w        io.Writer
	markdown bool
	limit    int // of the rows of a list
	rows     int // that the list has now
	table    table
}

// changes lists the pages and links.
func (p *diffPrinter) changes(d *survey.Diff, h *diffHead) error {
	if h.Pages != (diffCount{}) {
		p.heading("Pages")
		p.begin("", "page", "before", "after", "what")
		err := d.EachPage(func(c *survey.PageChange) error {
			if !p.more() {
				return errEnough
			}
			p.row(c.Change.String(), p.text(c.URL), answerText(c.Before), answerText(c.After), strings.Join(c.What, ", "))
			return nil
		})
		p.end()
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	if h.Links == (diffCount{}) {
		return nil
	}
	p.heading("Links")
	p.begin("", "from", "to", "kind")
	err := d.EachLink(func(c *survey.LinkChange) error {
		if !p.more() {
			return errEnough
		}
		p.row(c.Change.String(), p.text(c.FromURL), p.text(c.ToURL), c.Link.Kinds.First().String())
		return nil
	})
	p.end()
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func answerText(v *schema.Visit) string {
	switch {
	case v == nil:
		return "-"
	case v.Status == 0:
		return v.State.String()
	}
	return fmt.Sprintf("%s %d", v.State, v.Status)
}

func (p *diffPrinter) title(text string) {
	if p.markdown {
		text = "# " + text
	}
	fmt.Fprintf(p.w, "%s\n\n", text)
}

func (p *diffPrinter) line(text string) { fmt.Fprintf(p.w, "%s\n\n", text) }

func (p *diffPrinter) heading(text string) {
	if p.markdown {
		text = "## " + text
	}
	fmt.Fprintf(p.w, "\n%s\n\n", text)
}

// text makes a name or URL inert: in Markdown it is code.
func (p *diffPrinter) text(s string) string {
	s = clean(s, 300)
	if !p.markdown {
		return s
	}
	return "`" + strings.NewReplacer("`", "%60", "|", "%7C").Replace(s) + "`"
}

func (p *diffPrinter) begin(columns ...string) {
	p.rows = 0
	if !p.markdown {
		p.table = newTable(p.w)
	}
	p.row(columns...)
	if p.markdown {
		fmt.Fprintln(p.w, strings.Repeat("|---", len(columns))+"|")
	}
}

func (p *diffPrinter) row(cells ...string) {
	if p.markdown {
		fmt.Fprintln(p.w, "| "+strings.Join(cells, " | ")+" |")
		return
	}
	all := make([]any, len(cells))
	for i, c := range cells {
		all[i] = c
	}
	p.table.row(all...)
}

// more reports whether the list may have another row, and counts it.
func (p *diffPrinter) more() bool {
	p.rows++
	return p.rows <= p.limit
}

func (p *diffPrinter) end() {
	if !p.markdown {
		_ = p.table.Flush()
	}
	if p.rows > p.limit {
		fmt.Fprintf(p.w, "\nand more; --limit -1 lists all\n")
	}
}
