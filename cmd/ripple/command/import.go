package command

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
)

type importOptions struct {
	warc  []string
	wacz  []string
	wat   []string
	at    string
	graph graphOptions
	json  bool
}

func (o *importOptions) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.warc, "warc", nil, "read the WARC `FILE`, or those in a folder; may be repeated")
	f.StringArrayVar(&o.wacz, "wacz", nil, "read the WARC files in the WACZ `FILE`, or in those in a folder")
	f.StringArrayVar(&o.wat, "wat", nil, "read links and titles from the WAT `FILE`, or from those in a folder")
	f.StringVar(&o.at, "at", "", "of several captures of a page, take the newest that is not after `DATE`: 2015-12-31")
	o.graph.addFlags(f)
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newImportCommand(a *app) *cobra.Command {
	var opts importOptions
	cmd := &cobra.Command{
		Use:   "import (--warc|--wacz|--wat) FILE|DIR... | --graph PREFIX",
		Short: "Read web archives as a run of the past, or who links here from a web graph",
		Long: `Read the pages in web archives as if they had been crawled when they were archived.
The run is of kind "import". Lists and limits are those of the configuration
(config.toml if --config names no other). No request is sent. After a kill, the same
command continues. Further files may follow the first one after --warc, --wacz or
--wat if only one of these is given.

The runs of a state file are in the order of what they hold, but the last one is
always a crawl if there is one: runs after the import get the next number, and
"ripple crawl" continues its own run as if nothing had been imported. "ripple diff"
says what is left of the old pages and links. See "ripple help archives".

--graph reads a web graph of Common Crawl, of hosts or of domains, and records which
hosts that the terrain does not know link to the origins of the last run. Another
graph replaces it. Runs, depths and queues stay as they are; no crawl may be running.
"ripple inlinks" lists the hosts.`,
		Example: "  ripple import --warc blog-2015.warc.gz\n" +
			"  ripple import --config old.toml --warc archive/ --at 2015-12-31\n  ripple import --wacz *.wacz\n" +
			"  ripple import --graph graph/cc-main-2024-may-jun-jul-host",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runImport(ctx context.Context, a *app, opts importOptions, args []string) error {
	switch {
	case opts.graph != (graphOptions{}) && len(opts.warc)+len(opts.wacz)+len(opts.wat)+len(args) > 0:
		return term.Usage("archives and a web graph exclude each other; use --graph alone")
	case opts.graph.prefix != "" && opts.at != "":
		return term.Usage("--at chooses captures of archives; a graph has none")
	case opts.graph.prefix != "":
		return runImportGraph(ctx, a, opts.graph, opts.json)
	case opts.graph.ranks != "":
		return term.Usage("--ranks needs --graph: the graph that they are of")
	}
	from, err := opts.archives(args)
	if err != nil {
		return err
	}
	path, err := a.named.ConfigPath(nil)
	if err != nil {
		return err
	}
	cfg, err := statefile.LoadConfig(path, a.Voice)
	if err == nil {
		err = statefile.OfOne(path, cfg)
	}
	if err != nil {
		return err
	}
	done, err := term.Finding(a.Voice, "reading archives", func() (crawl.Imported, error) {
		return decide.Import(ctx, cfg, from)
	})
	for _, damage := range done.Damages {
		a.Voice.Tell(term.Event("damaged record", "passed over: "+term.Shown(damage)))
	}
	if more := done.Damaged - len(done.Damages); more > 0 {
		a.Voice.Tell(term.Event("damaged records", "passed over: "+term.Count(more, "more record", "more records")))
	}
	for _, doubt := range done.Doubts {
		a.Voice.Tell(term.Event("unverified file", "read, but not verified: "+term.Shown(doubt)))
	}
	if more := done.Unverified - len(done.Doubts); more > 0 {
		a.Voice.Tell(term.Event("unverified files", "read, but not verified: "+term.Count(more, "more file", "more files")))
	}
	if err != nil {
		return err
	}
	return printImported(a, done, opts.json)
}

// archives returns what the flags and arguments name.
func (o *importOptions) archives(args []string) (from crawl.Archives, err error) {
	if o.at != "" {
		if from.At, err = parseDate(o.at); err != nil {
			return from, err
		}
	}
	given := 0
	for _, kind := range []struct {
		named    []string
		files    *[]string
		suffixes []string
	}{
		{o.warc, &from.WARC, []string{".warc", ".warc.gz", ".warc.zst"}}, {o.wacz, &from.WACZ, []string{".wacz"}},
		{o.wat, &from.WAT, []string{".wat", ".wat.gz"}},
	} {
		if len(kind.named) == 0 {
			continue
		}
		if given++; len(args) > 0 && given > 1 {
			return from, term.Usage("%s: say --warc, --wacz or --wat before each file", term.Shown(args[0]))
		}
		*kind.files, err = decide.ArchiveFiles(append(kind.named, args...), kind.suffixes...)
		if err != nil {
			return from, err
		}
	}
	if given == 0 {
		err = term.Usage("name the archives or a web graph: ripple import --warc FILE, or --graph PREFIX")
	}
	return from, err
}

// parseDate parses a day, which counts to its end, or a time.
func parseDate(s string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day.Add(24*time.Hour - time.Millisecond), nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return at, term.Usage("--at is %q; write a date such as 2015-12-31, or 2015-12-31T12:00:00Z", s)
	}
	return at, nil
}

func printImported(a *app, done crawl.Imported, program bool) error {
	run := done.Run
	if program {
		return term.PrintJSON(a.stdout, struct {
			Run        int       `json:"run_id"`
			Oldest     time.Time `json:"oldest_capture_at"`
			Newest     time.Time `json:"newest_capture_at"`
			Bytes      int64     `json:"bytes_read"`
			Records    int       `json:"records_read"`
			Refused    int       `json:"captures_refused"`
			Pages      int       `json:"pages"`
			Damaged    int       `json:"records_damaged"`
			Unverified int       `json:"files_unverified"`
			Doubts     []string  `json:"unverified"`
		}{int(run.ID), run.Oldest, run.Newest, done.Bytes, done.Records, done.Refused, done.Pages, done.Damaged,
			done.Unverified, append([]string{}, done.Doubts...)})
	}
	if done.Known {
		fmt.Fprintf(a.stdout, "run #%d has these archives already: %s, captured %s; nothing was imported\n", run.ID,
			term.Count(done.Pages, "page", "pages"), run.Captured())
		return nil
	}
	fmt.Fprintf(a.stdout, "run #%d: %s imported, captured %s; %s read from %s, %s kept out by lists and rules\n", run.ID,
		term.Count(done.Pages, "page", "pages"), run.Captured(),
		term.Count(done.Records, "record", "records"), humanize.Bytes(uint64(done.Bytes)),
		term.Commas(done.Refused))
	if done.Last > run.ID {
		fmt.Fprintf(a.stdout, "later runs have the next number now: the last one is run #%d\n", done.Last)
	}
	return nil
}
