package term

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A Voice reports on stderr what the program does, as sentences for people or as events for programs.
type Voice struct {
	Stderr    *Screen
	verbose   int
	Quiet     bool
	LogFormat string
	SilentFor time.Duration // how long work may take before its progress is reported
	Reports   func(Reached) // receives the progress of long operations; nil: it is printed to stderr
}

func NewVoice(w io.Writer) *Voice { return &Voice{Stderr: NewScreen(w), SilentFor: SilentFor} }

func (v *Voice) AddFlags(f *pflag.FlagSet) {
	// the empty name keeps the help from showing one, as if there was a value to give
	f.CountVarP(&v.verbose, "verbose", "v", "report every visit and retry; twice: every request and verdict``")
	f.BoolVarP(&v.Quiet, "quiet", "q", false, "report only problems")
	f.StringVar(&v.LogFormat, "log-format", "text", "write messages on stderr as `text|json`")
}

// Check returns an error if the flags are wrong.
func (v *Voice) Check() error {
	if v.LogFormat != "text" && v.LogFormat != "json" {
		return Usage("--log-format is %q; it must be \"text\" or \"json\"", v.LogFormat)
	}
	return nil
}

// Logger returns a log at the level that the flags ask for.
func (v *Voice) Logger() *slog.Logger {
	level := slog.LevelInfo
	switch {
	case v.Quiet:
		level = slog.LevelWarn
	case v.verbose == 1:
		level = slog.LevelDebug
	case v.verbose > 1:
		level = crawl.LevelTrace
	}
	return slog.New(newLogHandler(v.Stderr, level, v.LogFormat))
}

// A Remark is printed as a sentence for a person and logged as an event for a program, always with the same facts.
type Remark struct {
	Text  string
	Event string
	Facts []any // keys and values, as of [slog.Logger.Info]
}

// Tell prints a remark on stderr, unless only problems are to be reported.
func (v *Voice) Tell(r Remark) {
	switch {
	case v.Quiet:
	case v.LogFormat == "json":
		v.Logger().Info(r.Event, r.Facts...)
	default:
		command := len(r.Facts) > 0 && r.Facts[0] == "command" // to be copied as it is
		v.Stderr.tell(inertLines(r.Text), command)
	}
}

// Warn logs a remark about something that may go wrong.
func (v *Voice) Warn(r Remark) {
	if v.LogFormat == "json" {
		v.Logger().Warn(r.Event, r.Facts...)
		return
	}
	v.Logger().Warn(inertLines(r.Text))
}

// Complain prints why a command failed.
func (v *Voice) Complain(err error) {
	text := inertLines(Complaint(err))
	switch {
	case text == "":
	case v.LogFormat == "json":
		for line := range strings.Lines(text) {
			v.Logger().Error("failed", "error", strings.TrimPrefix(strings.TrimSpace(line), "ripple: "))
		}
	default:
		fmt.Fprintln(v.Stderr, text)
	}
}

// inertLines makes each line of a message inert, because file names may contain anything.
func inertLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = sanitize.Text(line)
	}
	return strings.Join(lines, "\n")
}

// Say prints a fixed sentence.
func (v *Voice) Say(text string) { v.Tell(Remark{Text: text, Event: strings.TrimSpace(text)}) }

// Event returns a remark. facts are keys and values, as for [slog.Logger.Info].
func Event(event, text string, facts ...any) Remark { return Remark{text, event, facts} }
