package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// finish writes the outputs of a walk that came to its end or met a limit, then
// completes the run, and says how it ended.
func (w *walk) finish(ctx context.Context, r crawl.Result) error {
	limit := r.Run.End.Kind == schema.EndMaxRunTime
	if !r.Walked && !limit {
		w.tellInterrupted(r)
		return early(ctx)
	}
	s, err := survey.New(w.store)
	if err != nil {
		return err
	}
	written, err := writeOutputs(ctx, s, w.cfg.Load())
	if err != nil {
		if context.Cause(ctx) != nil {
			r.Run.End = schema.End{Kind: schema.EndOutputs}
			w.tellInterrupted(r)
			return early(ctx)
		}
		return hint(fmt.Errorf("run #%d: %w", r.Run.ID, err), "nothing is lost: %q writes them again",
			"ripple crawl "+shown(w.path))
	}
	if r.Walked {
		if err := w.crawl.Complete(); err != nil {
			return err
		}
	}
	if err := w.tellEnd(s, r); err != nil {
		return err
	}
	for _, path := range written {
		w.app.say("  wrote " + shown(path))
	}
	if limit {
		w.app.say(fmt.Sprintf("  %q goes on", "ripple crawl "+shown(w.path)))
	}
	return nil
}

// early is what a crawl that ctx has ended ends with: the signal, if it was one.
func early(ctx context.Context) error {
	var sig signalError
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}

func (w *walk) tellInterrupted(r crawl.Result) {
	w.app.say(fmt.Sprintf("run #%d is interrupted (%s): %s", r.Run.ID, clean(r.Run.End.String(), 200),
		visited(r.Run.Pages)))
	w.app.say(fmt.Sprintf("  go on with:      ripple crawl %s", shown(w.path)))
	w.app.say(fmt.Sprintf("  what is known:   ripple export --config %s --sqlite terrain.db", shown(w.path)))
}

// tellEnd says how the run ended, which origins were cut and by which key, and
// what a person should know about the map.
func (w *walk) tellEnd(s *survey.Survey, r crawl.Result) error {
	verb := "completed"
	if !r.Walked {
		verb = "interrupted"
	}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	processed := commas(counts.Processed) + " processed"
	if r.Run.ID > 1 {
		processed += " or kept"
	}
	w.app.say(fmt.Sprintf("run #%d %s: %s, %s, in %s (%s)", r.Run.ID, verb,
		visited(r.Run.Pages), processed, span(r.Run.Running.Round(time.Second/10)), clean(r.Run.End.String(), 200)))
	if r.Walked && counts.Processed == 0 {
		w.app.say("  no page could be crawled: look at the seeds and at the network")
	}
	lines, err := remarks(s)
	for _, line := range lines {
		w.app.say("  " + line)
	}
	return err
}

// visited says how many pages a run has asked for, whatever came of it.
func visited(n int) string { return count(n, "page", "pages") + " visited" }

// maxRemarks bounds each kind of remark.
const maxRemarks = 20

// remarks are what a person should know about a map that is not whole.
func remarks(s *survey.Survey) ([]string, error) {
	var lines, empty []string
	left := 0
	err := s.EachHost(func(h *survey.HostReport) error {
		name := clean(h.Host.Name, 253)
		switch {
		case len(h.Origins) > 0 && h.Cover.Cut() && h.Cover != survey.CoverDenied:
			if len(lines) < maxRemarks {
				lines = append(lines, cutLine(name, h))
			} else {
				left++
			}
		case h.HTML >= 3 && h.HTML == h.Linkless && len(empty) < maxRemarks:
			empty = append(empty, fmt.Sprintf("%s: none of %d pages has a link; they are likely made by script", name, h.HTML))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("and %s more; the summary has them all", count(left, "host", "hosts")))
	}
	lines = append(lines, empty...)
	more, err := omissions(s)
	if err != nil {
		return nil, err
	}
	lines = append(lines, more...)
	stray, err := survey.StraySeeds(s)
	for _, seed := range stray[:min(len(stray), maxRemarks)] {
		lines = append(lines, fmt.Sprintf("seed %s ends outside its origin, at %s", clean(seed.Seed, 200),
			clean(seed.End, 200)))
	}
	if err != nil {
		return nil, err
	}
	below, err := survey.UncoveredSubdomains(s)
	for _, u := range below[:min(len(below), maxRemarks)] {
		lines = append(lines, fmt.Sprintf("%s is not covered (%s); domain = %q would", clean(u.Host, 253),
			count(u.Links, "link", "links"), u.Pattern))
	}
	return lines, err
}

// cutLine says that an origin's host was cut, how many of its pages were processed,
// how many were not, and by which key.
func cutLine(name string, h *survey.HostReport) string {
	why := h.Coverage
	if h.Budget != "" {
		why = h.Budget
	}
	missing := commas(h.Waiting) + " waiting"
	if h.Waiting == 0 {
		missing = commas(h.KnownMissing) + " missing"
	}
	switch {
	case h.KnownMissing == 0 && h.LinksOmitted > 0: // as its coverage says
		return fmt.Sprintf("%s: %s, %s", name, count(h.Processed, "page", "pages"), clean(why, 200))
	case h.LinksOmitted > 0:
		missing += ", " + count(h.LinksOmitted, "link", "links") + " left out"
	}
	return fmt.Sprintf("%s: %s, %s (%s)", name, count(h.Processed, "page", "pages"), missing, clean(why, 200))
}

// omissions say which links are not on the map, and of which sites not all hosts are.
func omissions(s *survey.Survey) (lines []string, err error) {
	sites, err := survey.CutSites(s)
	for _, site := range sites[:min(len(sites), maxRemarks)] {
		lines = append(lines, siteLine(cutSite(site)))
	}
	if err != nil {
		return nil, err
	}
	counts, err := s.Counts()
	if err == nil && counts.LinksOmitted > 0 {
		lines = append(lines, count(counts.LinksOmitted, "link was", "links were")+
			" met and left out; the summary and the database say of which hosts")
	}
	return lines, err
}

// siteLine says that not all hosts of a site are recorded, and by which key.
func siteLine(s cutSite) string {
	return fmt.Sprintf("%s: %s, %s to further ones left out (%s)", clean(s.Site, 253),
		count(s.Hosts, "host", "hosts"), count(s.Overflow, "link", "links"), s.Limit)
}
