package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type webhookOptions struct{ json bool }

func (o *webhookOptions) addFlags(f *pflag.FlagSet) { f.BoolVar(&o.json, "json", false, "print JSON") }

func newWebhookCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Test the webhook",
		Long: `A crawl notifies the address in [monitor] webhook when a run is completed or
interrupted, hosts are given up, an origin is cut short or the disk is full. Messages
follow Standard Webhooks 1.0: JSON, signed with the secret in webhook-secret-file. What
the address does not accept is retried for three days, by every command that crawls;
before it ends, such a command waits up to 30 s for that, or 5 s after Ctrl-C.`,
		Example: "  echo \"whsec_$(openssl rand -base64 32)\" > hook.secret\n  ripple webhook test config.toml",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWebhookTestCommand(a))
	return cmd
}

func newWebhookTestCommand(a *app) *cobra.Command {
	var opts webhookOptions
	cmd := &cobra.Command{
		Use:   "test [CONFIG]",
		Short: "Send one event to the webhook",
		Long: `Send an event of type "test" to the address in [monitor] webhook and say what came back.
The exit code is 1 if it was not accepted.`,
		Example: "  ripple webhook test config.toml",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runWebhookTest(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runWebhookTest(ctx context.Context, a *app, opts webhookOptions, args []string) error {
	path, err := a.named.ConfigPath(args)
	if err != nil {
		return err
	}
	cfg, err := statefile.LoadConfig(path, a.Voice)
	if err != nil {
		return err
	}
	if cfg.Monitor.Webhook == "" {
		return term.Usage("%s names no [monitor] webhook", term.Shown(path))
	}
	sender, err := session.NewSender(cfg, a.Voice.Logger())
	if err != nil {
		return err
	}
	sent, err := sender.Test(ctx)
	if err != nil {
		return err
	}
	if opts.json {
		err = term.PrintJSON(a.stdout, answer.NewWebhookTest(&sent))
	} else {
		err = term.Flushed(a.stdout, func(w io.Writer) error { show.WebhookTest(w, &sent); return nil })
	}
	if err == nil && !sent.Delivered() {
		return term.ErrQuiet
	}
	return err
}
