package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
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

// queryExamples returns the first question of each persona.
func queryExamples() string {
	var examples []string
	persona := ""
	for _, q := range docs.Questions() {
		if q.Persona != persona {
			persona = q.Persona
			examples = append(examples, fmt.Sprintf("  # %s\n  ripple query \"%s\"", q.Asks,
				strings.ReplaceAll(q.SQL, "\n", "\n    ")))
		}
	}
	return strings.Join(examples, "\n\n")
}

func newQueryCommand(a *app) *cobra.Command {
	var opts queryOptions
	cmd := &cobra.Command{
		Use:   "query 'SQL'",
		Short: "Query the map in SQL",
		Long: `Run one read-only SQL statement over the tables that "ripple export --sqlite" writes.
They are read from the state as it is now: nothing is copied, and a question about few
pages is answered at once. With [cluster] hub, the shards of all machines are copied and
merged first: see "ripple help machines". "-" reads the statement from stdin; --schema
shows the tables. To ask many questions about everything, export once and use sqlite3.
"ripple help questions" has more examples than are shown here.`,
		Example: queryExamples(),
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
	_, over := a.Voice.Begin("running the query")
	defer over()
	return answer.Inspector{State: r}.RunQuery(ctx, text, counted, func(columns []string) answer.RowWriter {
		return firstRow{newRows(a, opts, columns), over}
	})
}

// firstRow writes rows, and ends the report of progress before the first one, which may be for the same terminal.
type firstRow struct {
	answer.RowWriter
	over func()
}

func (w firstRow) Row(values []any) (bool, error) {
	w.over()
	return w.RowWriter.Row(values)
}

func (w firstRow) End() error {
	w.over()
	return w.RowWriter.End()
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
