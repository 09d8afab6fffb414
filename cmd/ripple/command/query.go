package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema"
)

type queryOptions struct {
	links  output.LinksOption
	csv    bool
	json   bool
	schema bool
	limit  term.Limit
}

// A question is an example of a question about a map, and its SQL.
type question struct{ Asks, SQL string }

func Questions() []question {
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
	for i, q := range Questions() {
		if i > 0 {
			examples.WriteString("\n\n")
		}
		fmt.Fprintf(&examples, "  # %s\n  ripple query \"%s\"", q.Asks, q.SQL)
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
	opts.links.AddFlag(f, "of the tables of metrics: measure by these")
	term.AddLimit(f, &opts.limit, 1000, "rows of a table, with long cells cut; CSV and JSON have everything")
	return cmd
}

func runQuery(ctx context.Context, a *app, opts queryOptions, stdin io.Reader, text string) error {
	if opts.csv && opts.json {
		return term.Usage("--csv and --json are two forms; use one")
	}
	if text == "-" {
		all, err := io.ReadAll(io.LimitReader(stdin, answer.MaxStatement+1))
		if err != nil {
			return err
		}
		text = string(all)
	}
	counted, err := opts.links.Parse()
	if err != nil {
		return err
	}
	if err := answer.ReadsOnly(text); err != nil {
		return err
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	return answer.Inspector{State: r}.RunQuery(ctx, text, counted,
		func(columns []string) answer.RowWriter { return newRows(a, opts, columns) })
}

func newRows(a *app, opts queryOptions, columns []string) answer.RowWriter {
	switch {
	case opts.csv:
		return answer.NewCSVRows(a.stdout, columns)
	case opts.json:
		return answer.NewJSONRows(a.stdout, columns)
	}
	return show.NewTableRows(a.Voice, a.stdout, columns, int(opts.limit))
}
