package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// finish writes the outputs of a walk that came to its end or met a limit, then
// completes the run, and says how it ended.
func (w *walk) finish(ctx context.Context, r crawl.Result) error {
	limit := r.Run.End.Kind == schema.EndMaxRunTime
	if !r.Walked && !limit {
		return errors.Join(w.tellInterrupted(r), w.report(), early(ctx))
	}
	s, err := survey.New(w.store)
	if err != nil {
		return err
	}
	written, err := writeOutputs(ctx, s, w.cfg.Load())
	if err != nil {
		if context.Cause(ctx) != nil {
			r.Run.End = schema.End{Kind: schema.EndOutputs}
			return errors.Join(w.tellInterrupted(r), early(ctx))
		}
		return hint(fmt.Errorf("run #%d: %w", r.Run.ID, err), "nothing is lost; write them again with: ripple crawl %s",
			shown(w.path))
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
		w.voice.tell(remark{"  wrote " + shown(path), "output written", []any{"path", path}})
	}
	if limit {
		next := "ripple crawl " + shown(w.path)
		w.voice.tell(remark{"  go on with: " + next, "the run can go on", []any{"command", next}})
	}
	return w.barren(s, r)
}

// barren is the error of a completed run in which no page could be had; nil: there was one.
func (w *walk) barren(s *survey.Survey, r crawl.Result) error {
	counts, err := s.Counts()
	if err != nil || !r.Walked || counts.Processed > 0 {
		return err
	}
	return hint(errors.New("no page could be crawled"), "look at the seeds and at %s", suspect(counts.Errors))
}

// report writes the report of a run that was interrupted, which has no other outputs.
func (w *walk) report() error {
	path := w.cfg.Load().Monitor.ReportPath
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	s, err := survey.New(w.store)
	if err != nil {
		return err
	}
	s.Interrupt()
	s.Until(ctx)
	err = whole.Stream(ctx, path, func(out io.Writer) error { return writeReport(out, s) })
	if err != nil {
		return fmt.Errorf("[monitor] report-path: %w", err)
	}
	return nil
}

// reportTime is how long the report of an interrupted run may take.
const reportTime = 5 * time.Second

// early is what a crawl that ctx has ended ends with: the signal, if it was one.
func early(ctx context.Context) error {
	var sig signalError
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}

// tellInterrupted says why the run ended early, which hosts had failed, and what can be
// done next.
func (w *walk) tellInterrupted(r crawl.Result) error {
	why := clean(r.Run.End.String(), 200)
	w.voice.tell(remark{fmt.Sprintf("run #%d is interrupted (%s): %s", r.Run.ID, why, visited(r.Run.Pages)),
		"run interrupted", []any{"run", r.Run.ID, "reason", why, "pages", r.Run.Pages}})
	failed, err := failedHosts(w.store, r.Run.ID)
	for _, line := range failed {
		line.text = "  " + line.text
		w.voice.tell(line)
	}
	next := "ripple crawl " + shown(w.path)
	export := fmt.Sprintf("ripple export --config %s --sqlite terrain.db", shown(w.path))
	w.voice.tell(remark{"  go on with:      " + next, "the run can go on", []any{"command", next}})
	w.voice.tell(remark{"  what is known:   " + export, "what is known can be exported", []any{"command", export}})
	return err
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
	why := clean(r.Run.End.String(), 200)
	w.voice.tell(remark{
		fmt.Sprintf("run #%d %s: %s, %s, in %s (%s)", r.Run.ID, verb, visited(r.Run.Pages), processed,
			gap(r.Run.Running.Round(time.Second/10)), why), "run " + verb,
		[]any{"run", r.Run.ID, "reason", why, "pages", r.Run.Pages, "processed", counts.Processed,
			"seconds", r.Run.Running.Seconds()},
	})
	if text := errorText(counts.Errors); text != "" {
		w.voice.tell(remark{"  errors: " + text, "errors", []any{"errors", counts.Errors}})
	}
	lines, err := remarks(s)
	for _, line := range lines {
		line.text = "  " + line.text
		w.voice.tell(line)
	}
	return err
}

// suspect is what may be wrong with this machine where no page could be had.
func suspect(errors map[string]int) string {
	if len(errors) == 1 && errors[schema.CauseTLS.ErrorKind()] > 0 {
		return "the network's log-in and this machine's clock; a proxy that reads along needs its certificate in " +
			"[network] ca-file"
	}
	return "the network"
}

// visited says how many pages a run has asked for, whatever came of it.
func visited(n int) string { return count(n, "page", "pages") + " visited" }

// maxRemarks bounds each kind of remark.
const maxRemarks = 20

// remarks are what a person should know about a map that is not whole.
func remarks(s *survey.Survey) ([]remark, error) {
	var hosts hostRemarks
	if err := s.Hosts.Each(hosts.add); err != nil {
		return nil, err
	}
	lines := hosts.all()
	for _, more := range []func(*survey.Survey) ([]remark, error){omissions, strays, uncovered} {
		further, err := more(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, further...)
	}
	return lines, nil
}

// hostRemarks are those on single hosts.
type hostRemarks struct {
	cut, empty  []remark
	left        int // further ones that were cut
	gone, plain failures
}

func (r *hostRemarks) add(h *survey.HostReport) error {
	name := clean(h.Host.Name, 253)
	switch {
	case len(h.Origins) > 0 && h.Cover.Cut() && h.Cover != survey.CoverDenied:
		if len(r.cut) < maxRemarks {
			r.cut = append(r.cut, remark{cutLine(h), "origin cut", []any{"host", name, "pages", h.Processed,
				"missing", h.KnownMissing, "reason", h.Coverage}})
		} else {
			r.left++
		}
	case h.Cover == survey.CoverGivenUp:
		r.gone.addReport(h)
	}
	if h.OnlyHTTP() {
		r.plain.add(name, "seen only as http:// and not reached over https", "")
	}
	if line, ok := unlinked(name, h); ok && len(r.empty) < maxRemarks {
		r.empty = append(r.empty, line)
	}
	return nil
}

func (r *hostRemarks) all() []remark {
	lines := r.cut
	if r.left > 0 {
		text := fmt.Sprintf("and %s more; the summary has them all", count(r.left, "host", "hosts"))
		lines = append(lines, remark{text, "further origins cut", []any{"count", r.left}})
	}
	lines = append(lines, r.gone.remarks()...)
	for _, g := range r.plain.groups {
		text := fmt.Sprintf("%s %s (%s)", count(g.count, "host was", "hosts were"), g.reason, g.named())
		lines = append(lines, remark{text, "hosts " + g.reason, []any{"count", g.count, "hosts", g.names}})
	}
	return append(lines, r.empty...)
}

// unlinked says that pages of a host likely need their scripts or, where nothing shows that, that
// they have no links.
func unlinked(name string, h *survey.HostReport) (remark, bool) {
	switch {
	case h.Shells > 0:
		return remark{
			fmt.Sprintf("%s: %s of %s likely need scripts", shownHost(name, 253), commas(h.Shells),
				count(h.HTML, "page", "pages")),
			"pages likely need scripts", []any{"host", name, "count", h.Shells},
		}, true
	case h.Unlinked():
		return remark{
			fmt.Sprintf("%s: %s without a link", shownHost(name, 253), count(h.HTML, "page", "pages")),
			"no page has a link", []any{"host", name, "count", h.HTML},
		}, true
	}
	return remark{}, false
}

// strays are the seeds that end outside their origins.
func strays(s *survey.Survey) (lines []remark, err error) {
	stray, err := survey.StraySeeds(s)
	for _, seed := range stray[:min(len(stray), maxRemarks)] {
		from, to := clean(seed.Seed, 200), clean(seed.End, 200)
		lines = append(lines, remark{fmt.Sprintf("seed %s ends outside its origin, at %s",
			shownHost(seed.Seed, 200), shownHost(seed.End, 200)),
			"a seed ends outside its origin", []any{"seed", from, "at", to}})
	}
	return lines, err
}

// uncovered are the subdomains of origins that no entry covers.
func uncovered(s *survey.Survey) (lines []remark, err error) {
	below, err := survey.UncoveredSubdomains(s)
	for _, u := range below[:min(len(below), maxRemarks)] {
		host := clean(u.Host, 253)
		text := fmt.Sprintf("%s is not covered (%s); domain = %q would",
			shownHost(u.Host, 253), count(u.Links, "link", "links"), u.Pattern)
		lines = append(lines, remark{text, "a subdomain of an origin is not covered",
			[]any{"host", host, "count", u.Links, "pattern", u.Pattern}})
	}
	return lines, err
}

// cutLine says that an origin's host was cut, how many of its pages were processed,
// how many were not, and by which key.
func cutLine(h *survey.HostReport) string {
	name := shownHost(h.Host.Name, 253)
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
func omissions(s *survey.Survey) (lines []remark, err error) {
	sites, err := survey.CutSites(s)
	for _, site := range sites[:min(len(sites), maxRemarks)] {
		cut := cutSite(site)
		lines = append(lines, remark{siteLine(cut), "site cut", []any{"site", clean(cut.Site, 253), "hosts", cut.Hosts,
			"links_left_out", cut.Overflow, "reason", cut.Limit}})
	}
	if err != nil {
		return nil, err
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	if n := counts.LinksOmitted - counts.LinksRefused; n > 0 {
		lines = append(lines, remark{count(n, "link was", "links were") +
			" met and left out; the summary and the database say of which hosts", "links left out", []any{"count", n}})
	}
	if n := counts.LinksRefused; n > 0 {
		lines = append(lines, remark{count(n, "link", "links") +
			" left out: no URL, or longer than max-length; the database says of which hosts", "links refused",
			[]any{"count", n}})
	}
	return lines, nil
}

// siteLine says that not all hosts of a site are recorded, and by which key.
func siteLine(s cutSite) string {
	return fmt.Sprintf("%s: %s, %s to further ones left out (%s)", shownHost(s.Site, 253),
		count(s.Hosts, "host", "hosts"), count(s.Overflow, "link", "links"), s.Limit)
}
