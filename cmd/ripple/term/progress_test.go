package term

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/export"
)

// TestLongWork does a minute of work: a terminal shows a bar that disappears, a file gets a line
// now and then, and with --quiet there is nothing. Stdout never gets any of it.
func TestLongWork(t *testing.T) {
	tests := []struct {
		name        string
		term, quiet bool
		format      string
		want        []string
		lines       int
	}{
		{"terminal", true, false, "text", []string{"writing x.db: links [##########..........] 50 % · 2 s", "\x1b[1A\x1b[J"}, -1},
		{"file", false, false, "text", []string{"writing x.db: links 50 % · 2 s\n", "writing x.db: indexes · 32 s\n"}, 2},
		{"program", false, false, "json", []string{`"msg":"progress","work":"writing x.db","step":"links","done":5,"total":10`}, 2},
		{"quiet", true, true, "text", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, err bytes.Buffer
				v := NewVoice(&err)
				v.Stderr.Term, v.Quiet, v.LogFormat = tt.term, tt.quiet, tt.format
				_ = v.During("writing x.db", func(p export.Progress) error {
					p.At("links", 5, 10)
					time.Sleep(30 * time.Second)
					p.At("indexes", 0, 0)
					time.Sleep(30 * time.Second)
					return nil
				})
				for _, want := range tt.want {
					if !strings.Contains(err.String(), want) {
						t.Errorf("%q does not contain %q", err.String(), want)
					}
				}
				if lines := strings.Count(err.String(), "\n"); tt.lines >= 0 && lines != tt.lines || out.Len() > 0 {
					t.Errorf("%d lines, want %d: %q; on stdout %q", lines, tt.lines, err.String(), out.String())
				}
			})
		})
	}
}

// A program that ordered work gets its progress, even if people get nothing.
func TestReportedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all bytes.Buffer
		var told []Reached
		v := NewVoice(&all)
		v.Quiet, v.Reports = true, func(r Reached) { told = append(told, r) }
		_ = v.During("writing x.db", func(p export.Progress) error {
			time.Sleep(redrawEvery * 3 / 2)
			p.At("links", 5, 10)
			time.Sleep(redrawEvery * 2)
			return nil
		})
		want := Reached{"links", 5, 10}
		if len(told) != 2 || told[0] != want || told[1] != want || all.Len() > 0 {
			t.Errorf("told %v, and to people %q", told, all.String())
		}
	})
}

// Work whose first result ends the report leaves nothing of it on the terminal, before the result is written.
func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all bytes.Buffer
		v := NewVoice(&all)
		v.Stderr.Term, v.LogFormat = true, "text"
		_, over := v.Begin("running the query")
		time.Sleep(SilentFor + redrawEvery*3/2)
		over()
		shown := all.Len()
		if !strings.Contains(all.String(), "running the query · 2 s") {
			t.Errorf("shown is %q", all.String())
		}
		time.Sleep(time.Minute)
		over()
		if all.Len() != shown {
			t.Errorf("afterwards it says %q", all.String()[shown:])
		}
	})
}

// TestShortWork reports nothing.
func TestShortWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err bytes.Buffer
		v := NewVoice(&err)
		v.Stderr.Term, v.LogFormat = true, "text"
		_ = v.During("writing x.db", func(export.Progress) error { time.Sleep(SilentFor - time.Second/8); return nil })
		if err.Len() > 0 {
			t.Errorf("%q", err.String())
		}
	})
}
