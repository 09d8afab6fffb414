package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema/inert"
)

// A voice tells on stderr what the program does: people in sentences, programs in events.
type voice struct {
	stderr    *screen
	verbose   int
	quiet     bool
	logFormat string
	reports   func(reached) // is told how far long work has come; nil: people are, on stderr
}

func newVoice(w io.Writer) *voice { return &voice{stderr: newScreen(w)} }

func (v *voice) addFlags(f *pflag.FlagSet) {
	// the empty name keeps the help from showing one, as if there was a value to give
	f.CountVarP(&v.verbose, "verbose", "v", "report every visit and retry; twice: every request and verdict``")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "report only problems")
	f.StringVar(&v.logFormat, "log-format", "text", "write messages on stderr as `text|json`")
}

// check refuses flags that are wrong.
func (v *voice) check() error {
	if v.logFormat != "text" && v.logFormat != "json" {
		return usage("--log-format is %q; it must be \"text\" or \"json\"", v.logFormat)
	}
	return nil
}

// logger returns a log of what is told while a command works.
func (v *voice) logger() *slog.Logger {
	level := slog.LevelInfo
	switch {
	case v.quiet:
		level = slog.LevelWarn
	case v.verbose == 1:
		level = slog.LevelDebug
	case v.verbose > 1:
		level = crawl.LevelTrace
	}
	return slog.New(newLogHandler(v.stderr, level, v.logFormat))
}

// A remark is told to a person as a sentence, and to a program as an event, always in
// the same words, with its facts.
type remark struct {
	text  string
	event string
	facts []any // keys and values, as of [slog.Logger.Info]
}

// tell tells a remark on stderr, unless only what went wrong is wanted.
func (v *voice) tell(r remark) {
	switch {
	case v.quiet:
	case v.logFormat == "json":
		v.logger().Info(r.event, r.facts...)
	default:
		command := len(r.facts) > 0 && r.facts[0] == "command" // to be copied as it is
		v.stderr.tell(inertLines(r.text), command)
	}
}

// warn tells a remark on what may go wrong, in the log.
func (v *voice) warn(r remark) {
	if v.logFormat == "json" {
		v.logger().Warn(r.event, r.facts...)
		return
	}
	v.logger().Warn(inertLines(r.text))
}

// complain tells why a command has failed.
func (v *voice) complain(err error) {
	text := inertLines(complaint(err))
	switch {
	case text == "":
	case v.logFormat == "json":
		for line := range strings.Lines(text) {
			v.logger().Error("failed", "error", strings.TrimPrefix(strings.TrimSpace(line), "ripple: "))
		}
	default:
		fmt.Fprintln(v.stderr, text)
	}
}

// inertLines makes each line of a message inert: names of files may hold anything.
func inertLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = inert.Text(line)
	}
	return strings.Join(lines, "\n")
}

// say tells what is always the same words.
func (v *voice) say(text string) { v.tell(remark{text: text, event: strings.TrimSpace(text)}) }
