package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/sumi-ripple/ripple/schema"
)

// maxLine is the length of a line at most, in bytes: peers say a part of it.
const maxLine = 300

// A journal takes what a NATS server has to say. It does not end the process.
type journal struct {
	log   *slog.Logger // nil: nothing is kept
	fatal chan error   // the first reason why the server cannot work; holds one
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
