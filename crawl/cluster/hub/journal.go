package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/sumi-ripple/ripple/schema"
)

// maxLine is the maximum length of a log line, in bytes: part of it may come from peers.
const maxLine = 300

// A journal receives the log of a NATS server. It does not end the process.
type journal struct {
	log   *slog.Logger // nil: discard
	fatal chan error   // the first reason why the server cannot work; capacity 1
}

func (j *journal) Fatalf(format string, v ...any) {
	select {
	case j.fatal <- errors.New("hub: " + line(format, v)):
	default:
	}
}

func (j *journal) Errorf(format string, v ...any)  { j.write(slog.LevelWarn, format, v) }
func (j *journal) Warnf(format string, v ...any)   { j.write(slog.LevelWarn, format, v) }
func (j *journal) Noticef(format string, v ...any) { j.write(slog.LevelDebug, format, v) }
func (j *journal) Debugf(string, ...any)           {}
func (j *journal) Tracef(string, ...any)           {}

func (j *journal) write(level slog.Level, format string, v []any) {
	if j.log != nil {
		j.log.Log(context.Background(), level, "hub", "says", line(format, v))
	}
}

func line(format string, v []any) string { return schema.Clean(fmt.Sprintf(format, v...), maxLine) }
