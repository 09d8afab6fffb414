package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/schema"
)

type queryOptions struct {
	links  linksOption
	csv    bool
	json   bool
	schema bool
	limit  term.Limit
}

// A question is one that people ask of a map, and how it is asked in SQL.
type question struct{ asks, sql string }

func questions() []question {
	return []question{
		{"Who links to a page?", `SELECT f.url, l.anchor, l.place FROM links l JOIN pages f ON f.id = l.from_page_id
    JOIN pages t ON t.id = l.to_page_id WHERE t.url = 'https://tidewater-maps.test/'`},
		{"Which pages does no page link to?", `SELECT url FROM pages p WHERE state = 'processed'
    AND NOT EXISTS (SELECT 1 FROM links WHERE to_page_id = p.id)`},
		{"How many links of each origin are broken?", `SELECT d.quality_origin, count(*) AS broken FROM page_depths d
    JOIN links l ON l.from_page_id = d.page_id JOIN pages t ON t.id = l.to_page_id
    WHERE d.depth = 0 AND t.state IN ('dead_link', 'unreachable', 'failed')
    AND t.error_message NOT LIKE 'denied by robots.txt%' GROUP BY 1 ORDER BY 2 DESC`},
		{"Which hosts does only one origin link to?", `SELECT t.domain, min(d.quality_origin) AS origin,
    count(*) AS links
    FROM page_depths d JOIN links l ON l.from_page_id = d.page_id JOIN pages t ON t.id = l.to_page_id
    WHERE d.depth = 0 AND t.class = 'discovered'
    GROUP BY 1 HAVING count(DISTINCT d.quality_origin) = 1 ORDER BY 3 DESC, 1`},
		{"Which hosts matter most?", `SELECT domain, class, in_degree, round(trust, 4) AS trust FROM host_metrics
    JOIN hosts ON id = host_id ORDER BY host_metrics.trust DESC LIMIT 10`},
	}
}

func newQueryCommand(a *app) *cobra.Command {
	var opts queryOptions
	var examples strings.Builder
	for i, q := range questions() {
		if i > 0 {
			examples.WriteString("\n\n")
		}
		fmt.Fprintf(&examples, "  # %s\n  ripple query \"%s\"", q.asks, q.sql)
	}
	cmd := &cobra.Command{
		Use:   "query 'SQL'",
		Short: "Query the map in SQL",
		Long: `Run one read-only SQL statement over the tables that "ripple export --sqlite" writes.
They are read from the state as it is now: nothing is copied, and a question about few
pages is answered at once. "-" reads the statement from stdin; --schema shows the
tables. To ask many questions about everything, export once and use sqlite3.`,
		Example: examples.String(),
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.schema {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case opts.schema && len(args) > 0:
				return term.Usage("--schema takes no statement; leave one of them out")
			case opts.schema:
				_, err := io.WriteString(a.stdout, schema.SQL())
				return err
			}
			return runQuery(cmd.Context(), a, opts, cmd.InOrStdin(), args[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.csv, "csv", false, "print CSV")
	f.BoolVar(&opts.json, "json", false, "print JSON, an object for each row")
	f.BoolVar(&opts.schema, "schema", false, "print the tables and what their columns mean")
	opts.links.addFlag(f, "of the tables of metrics: measure by these")
	term.AddLimit(f, &opts.limit, 1000, "rows of a table, with long cells cut; CSV and JSON have everything")
	return cmd
}

// maxQuery bounds a statement in bytes.
const maxQuery = 1 << 20

func runQuery(ctx context.Context, a *app, opts queryOptions, stdin io.Reader, text string) error {
	if opts.csv && opts.json {
		return term.Usage("--csv and --json are two forms; use one")
	}
	if text == "-" {
		all, err := io.ReadAll(io.LimitReader(stdin, maxQuery+1))
		if err != nil {
			return err
		}
		text = string(all)
	}
	counted, err := opts.links.parse()
	if err != nil {
		return err
	}
	if err := readsOnly(text); err != nil {
		return err
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	return inspector{r}.query(ctx, text, counted, func(columns []string) rowWriter { return newRows(a, opts, columns) })
}

// query runs a statement over tables whose metrics are made of the counted links. answer is given
// the names of the columns, and returns what takes the rows.
func (r inspector) query(
	ctx context.Context, text string, counted export.Counted, answer func(columns []string) rowWriter,
) error {
	d, err := sqlite.Open(r.Survey)
	if err != nil {
		return err
	}
	defer d.Close()
	d.Count(counted)
	var w rowWriter
	err = d.Query(ctx, text, func(columns []string) (func([]any) (bool, error), error) {
		w = answer(columns)
		return w.row, nil
	})
	if wrong := new(sqlite.StatementError); errors.As(err, &wrong) {
		return term.Usage("%s; \"ripple query --schema\" shows the tables", term.Clean(wrong.Text, 500))
	}
	if errors.Is(err, sqlite.ErrMemory) {
		return term.Usage("%v; ask for less, or export the map and ask sqlite3", err)
	}
	if err != nil {
		return statefile.Advise(r.Path, err)
	}
	return w.end()
}

func newRows(a *app, opts queryOptions, columns []string) rowWriter {
	switch {
	case opts.csv:
		return newCSVRows(a.stdout, columns)
	case opts.json:
		return newJSONRows(a.stdout, columns)
	}
	return newTableRows(a, columns, int(opts.limit))
}

// readsOnly refuses what is not one statement that reads. The database could not be
// changed anyway; this says so before it is made, and keeps statements out that
// open other files.
func readsOnly(text string) error {
	if len(text) > maxQuery || strings.ContainsRune(text, 0) {
		return term.Usage("the statement must be text of at most 1 MiB")
	}
	statements := 0
	first := ""
	for _, s := range splitSQL(text) {
		if word := firstWord(s); word != "" {
			statements++
			first = word
		}
	}
	switch {
	case statements != 1:
		return term.Usage("it must be one statement, not %d", statements)
	case first != "SELECT" && first != "WITH" && first != "VALUES" && first != "EXPLAIN":
		return term.Usage("the statement must begin with SELECT, WITH, VALUES or EXPLAIN; nothing can be changed here")
	}
	return nil
}

// splitSQL cuts a text into statements, comments left out, literals as they are
// (https://www.sqlite.org/lang.html).
func splitSQL(text string) []string {
	var all []string
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		switch {
		case strings.HasPrefix(text[i:], "--"):
			n = upTo(text[i:], "\n", 2)
			b.WriteByte(' ')
		case strings.HasPrefix(text[i:], "/*"):
			n = upTo(text[i:], "*/", 2)
			b.WriteByte(' ')
		case strings.IndexByte("'\"`[", text[i]) >= 0:
			end := text[i : i+1]
			if end == "[" {
				end = "]"
			}
			n = upTo(text[i:], end, 1)
			b.WriteString(text[i : i+n])
		case text[i] == ';':
			all = append(all, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
		i += n
	}
	return append(all, b.String())
}

// upTo returns the length of s up to and with an end that is looked for from a
// place on; all of s if there is none.
func upTo(s, end string, from int) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// firstWord returns the first word of a statement in upper case; what is no word is
// returned as it is.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t\n\f\r(")
	end := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_')
	})
	if end < 0 {
		end = len(s)
	}
	if end == 0 && s != "" {
		return s[:1]
	}
	return strings.ToUpper(s[:end])
}
