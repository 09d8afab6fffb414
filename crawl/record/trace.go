package record

import (
	"context"
	"log/slog"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// LevelTrace is the level at which every request is logged, and every verdict on an
// answer.
const LevelTrace = slog.LevelDebug - 4

// tellRequest logs a request and its answer.
func (l *ledger) tellRequest(o *ring.Outcome) {
	if !l.in.log.Enabled(context.Background(), LevelTrace) {
		return
	}
	attrs := []slog.Attr{slog.String("method", o.Step.Kind.Method()), slog.String("url", o.Step.URL)}
	if o.Status != 0 {
		attrs = append(attrs, slog.Int("status_code", o.Status))
	}
	attrs = append(attrs, slog.Int64("ms", o.Done.Sub(o.Step.Sent).Milliseconds()))
	if o.Step.ETag != "" || o.Step.Modified != "" {
		attrs = append(attrs, slog.Bool("conditional", true))
	}
	if !o.Answered() {
		attrs = append(attrs, slog.String("error", o.Reason().String()))
	}
	l.in.log.LogAttrs(context.Background(), LevelTrace, "request", attrs...)
}

// tellVerdict logs what an answer means.
func (l *ledger) tellVerdict(o *ring.Outcome, verdict string, why schema.Reason) {
	if !l.in.log.Enabled(context.Background(), LevelTrace) {
		return
	}
	attrs := []slog.Attr{slog.String("verdict", verdict), slog.String("url", o.Step.URL)}
	if text := why.String(); text != "" {
		attrs = append(attrs, slog.String("reason", text))
	}
	l.in.log.LogAttrs(context.Background(), LevelTrace, "verdict", attrs...)
}
