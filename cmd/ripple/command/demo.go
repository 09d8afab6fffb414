package command

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/demo"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

func addDemoFlags(o *demo.Options, f *pflag.FlagSet) {
	f.StringVar(&o.Dir, "dir", "./ripple-demo", "write everything to `DIR`")
	f.BoolVar(&o.Serve, "serve", false, "show it in the browser while it crawls, and afterwards, until Ctrl-C")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "with --serve: listen at `ADDR`")
	f.IntVar(&o.Nodes, "nodes", 0,
		"first crawl it with `N` nodes and a hub, as several machines would,\nkill one of them, and compare the maps")
}

func newDemoCommand(a *app) *cobra.Command {
	var opts demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Crawl a small built-in web and write every output",
		Long: `Serve a small web on this machine, crawl it over TLS as a real one would be, and
write the state and every output to a folder. Then the web changes and is crawled
again, so that "ripple diff" has something to show. It contacts no other machine
and takes less than half a minute. Look around in the folder afterwards; running
"ripple demo" again replaces it. Its web is gone when it ends: to crawl it yourself,
leave "ripple demo --serve" running and use "ripple crawl" in its folder.`,
		Example: "  ripple demo\n  ripple demo --serve\n  ripple demo --nodes 3\n  ripple demo --dir /tmp/valley",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("listen") && !opts.Serve {
				return term.Usage("--listen is for the desk; add --serve")
			}
			return demo.Run(cmd.Context(), demo.Program{
				Voice: a.Voice, Stdout: a.stdout,
				Crawl: func(ctx context.Context, path string) error {
					return session.Crawl(ctx, a.Voice, a.stdout, path, session.Options{Timing: a.Timing})
				},
				Merge: func(ctx context.Context, out string, folders []string) error {
					return runMerge(ctx, a, mergeOptions{out: out, force: true}, folders)
				},
			}, opts)
		},
	}
	addDemoFlags(&opts, cmd.Flags())
	return cmd
}
