package term

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/export"
)

// TellEvery is how often a crawl reports its progress where no terminal is attached.
const TellEvery = 30 * time.Second

const redrawEvery = time.Second / 4

// SilentFor is how long work takes before its progress is reported, unless a [Voice] says otherwise.
const SilentFor = 2 * time.Second

// A progress reports on stderr how far long work has come: in place on a terminal, elsewhere as a line now and then.
type progress struct {
	voice *Voice
	what  string // "writing terrain.db"
	begun time.Time
	told  time.Time // zero: not yet
	at    atomic.Pointer[Reached]
}

// A Reached says how far work has come. A total of 0 is unknown.
type Reached struct {
	Step        string
	Done, Total int
}

// During runs work and reports its progress, unless only problems are to be reported.
func (v *Voice) During(what string, work func(export.Progress) error) error {
	see, over := v.Begin(what)
	defer over()
	return work(see)
}

// Begin reports the progress of work until over is called, unless only problems are to be reported; then see is nil.
// over may be called several times. Afterwards nothing of the report is left on a terminal.
func (v *Voice) Begin(what string) (see export.Progress, over func()) {
	if v.Quiet && v.Reports == nil {
		return nil, func() {}
	}
	p := &progress{voice: v, what: what, begun: time.Now()}
	done := make(chan struct{})
	var watching errgroup.Group
	watching.Go(func() error { p.watch(done); return nil })
	return p.see, sync.OnceFunc(func() { close(done); _ = watching.Wait() })
}

// Finding runs a search that reports no progress of its own, and returns its result.
func Finding[T any](v *Voice, what string, search func() (T, error)) (all T, err error) {
	err = v.During(what, func(export.Progress) (err error) {
		all, err = search()
		return err
	})
	return all, err
}

func (p *progress) see(step string, done, total int) { p.at.Store(&Reached{step, done, total}) }

// watch reports progress until the work is over.
func (p *progress) watch(over <-chan struct{}) {
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			if p.inPlace() && !p.told.IsZero() {
				p.voice.Stderr.Show(nil)
			}
			return
		case <-tick.C:
			p.tell()
		}
	}
}

func (p *progress) inPlace() bool { return p.voice.Stderr.Term && p.voice.LogFormat == "text" }

func (p *progress) tell() {
	if p.voice.Reports != nil {
		if now := p.at.Load(); now != nil {
			p.voice.Reports(*now)
		}
		return
	}
	took := time.Since(p.begun)
	if took < p.voice.SilentFor || !p.inPlace() && !p.told.IsZero() && time.Since(p.told) < TellEvery {
		return
	}
	p.told = time.Now()
	now := p.at.Load()
	if now == nil {
		now = &Reached{}
	}
	if p.inPlace() {
		p.voice.Stderr.Show([]string{p.line(now, bar(now), took)})
		return
	}
	p.voice.Tell(Remark{p.line(now, "", took), "progress", []any{
		"work", p.what, "step", now.Step, "done", now.Done,
		"total", now.Total, "seconds", took.Round(time.Second).Seconds(),
	}})
}

// line returns the progress as a line for a person.
func (p *progress) line(now *Reached, bar string, took time.Duration) string {
	parts := []string{p.what}
	if now.Step != "" {
		parts[0] += ": " + now.Step
	}
	if now.Total > 0 {
		parts[0] += bar + fmt.Sprintf(" %d %%", share(now))
	}
	return strings.Join(append(parts, Span(took)), " · ")
}

// barWidth is the number of characters between the ends of a bar.
const barWidth = 20

// bar returns a progress bar; empty if the total is unknown.
func bar(now *Reached) string {
	if now.Total <= 0 {
		return ""
	}
	full := barWidth * share(now) / 100
	return " [" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}

func share(now *Reached) int { return max(0, min(100, int(100*int64(now.Done)/int64(now.Total)))) }
