package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// finish writes the outputs of a walk that reached its end or a limit, completes the run, and reports how it ended.
func (w *walk) finish(ctx context.Context, r crawl.Result) error {
	if w.check != nil {
		return w.check.finish(ctx, w, r)
	}
	limit := r.Run.End.Kind == schema.EndMaxRunTime
	if !r.Walked && !limit {
		return errors.Join(w.tellInterrupted(r), w.report(), early(ctx))
	}
	s, err := survey.New(w.store)
	if err != nil {
		return err
	}
	written, err := output.WriteAll(ctx, s, w.cfg.Load())
	if err != nil {
		if context.Cause(ctx) != nil {
			r.Run.End = schema.End{Kind: schema.EndOutputs}
			return errors.Join(w.tellInterrupted(r), early(ctx))
		}
		return term.Hint(fmt.Errorf("run #%d: %w", r.Run.ID, err), "nothing is lost; write them again with: ripple crawl %s",
			term.Shown(w.path))
	}
	if r.Walked {
		if err := w.crawl.Complete(); err != nil {
			return err
		}
	}
	if err := w.tellEnd(s, r); err != nil {
		return err
	}
	w.tellMore(s)
	for _, path := range written {
		w.voice.Tell(term.Event("output written", "  wrote "+term.Shown(path), "path", path))
	}
	if limit {
		next := "ripple crawl " + term.Shown(w.path)
		w.voice.Tell(term.Event("the run can go on", "  go on with: "+next, "command", next))
	}
	return w.barren(s, r)
}

// barren returns the error of a completed run that fetched no page.
func (w *walk) barren(s *survey.Survey, r crawl.Result) error {
	counts, err := s.Counts()
	if err != nil || !r.Walked || counts.Processed > 0 {
		return err
	}
	nothing := errors.New("no page could be crawled")
	kept := counts.ByState[schema.DeadLink] + counts.ByState[schema.ContentMismatch]
	if r.Run.Pages == 0 && len(counts.Errors) == 0 && kept > 0 {
		return term.Hint(nothing, "what an earlier run was answered is kept as long as [recrawl] min-age says (%s); "+
			"with a shorter one it is requested again", term.Span(w.cfg.Load().Recrawl.MinAge))
	}
	return term.Hint(nothing, "look at the seeds and at %s", suspect(counts.Errors))
}

// report writes the report of an interrupted run, which is its only output.
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
	err = atomicfile.Stream(ctx, path, func(out io.Writer) error { return answer.WriteReport(out, s) })
	if err != nil {
		return fmt.Errorf("[monitor] report-path: %w", err)
	}
	return nil
}

// reportTime is the time limit of the report of an interrupted run.
const reportTime = 5 * time.Second

// early returns the error of a crawl that ctx has ended: the signal, if it was one.
func early(ctx context.Context) error {
	var sig term.SignalError
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}

// tellInterrupted reports why the run ended early, which hosts failed, and the next step.
func (w *walk) tellInterrupted(r crawl.Result) error {
	why := term.Clean(r.Run.End.String(), 200)
	w.voice.Tell(term.Event("run interrupted", fmt.Sprintf("run #%d is interrupted (%s): %s", r.Run.ID, why,
		show.Visited(r.Run.Pages)), "run", r.Run.ID, "reason", why, "pages", r.Run.Pages))
	failed, err := failedHosts(w.store, r.Run.ID)
	for _, line := range failed {
		line.Text = "  " + line.Text
		w.voice.Tell(line)
	}
	next := "ripple crawl " + term.Shown(w.path)
	export := fmt.Sprintf("ripple export --config %s --sqlite terrain.db", term.Shown(w.path))
	w.voice.Tell(term.Event("the run can go on", "  go on with:      "+next, "command", next))
	w.voice.Tell(term.Event("what is known can be exported", "  what is known:   "+export, "command", export))
	return err
}

// tellEnd reports how the run ended, which origins were cut and by which key, and how the map is incomplete.
func (w *walk) tellEnd(s *survey.Survey, r crawl.Result) error {
	verb := "completed"
	if !r.Walked {
		verb = "interrupted"
	}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	processed := term.Commas(counts.Processed) + " processed"
	earlier := func(e schema.Run) bool { return e.ID < r.Run.ID && e.Kind == schema.RunCrawl }
	if runs := s.Runs(); runs[0].ID > 1 || slices.ContainsFunc(runs, earlier) { // the first ones may be pruned
		processed += " or kept"
	}
	why := term.Clean(r.Run.End.String(), 200)
	w.voice.Tell(term.Event("run "+verb, fmt.Sprintf("run #%d %s: %s, %s, in %s (%s)", r.Run.ID, verb,
		show.Visited(r.Run.Pages), processed,
		term.Gap(r.Run.Running.Round(time.Second/10)), why), "run", r.Run.ID, "reason", why, "pages", r.Run.Pages,
		"processed", counts.Processed,
		"seconds", r.Run.Running.Seconds()))
	if text := show.ErrorText(counts.Errors); text != "" {
		w.voice.Tell(term.Event("errors", "  errors: "+text, "errors", counts.Errors))
	}
	lines, err := remarks(s)
	for _, line := range lines {
		line.Text = "  " + line.Text
		w.voice.Tell(line)
	}
	return err
}

// tellMore reports how to visit what a budget has left, if one did.
func (w *walk) tellMore(s *survey.Survey) {
	var budget string
	_ = s.Hosts.Each(func(h *survey.HostReport) error { // it was read without an error for the remarks
		if budget == "" && len(h.Origins) > 0 && h.KnownMissing > 0 {
			budget = h.Budget
		}
		return nil
	})
	key, number, found := strings.Cut(budget, " = ")
	if n, err := strconv.Atoi(number); found && err == nil {
		next := "ripple crawl " + term.Shown(w.path)
		w.voice.Tell(term.Event("the next run visits more", fmt.Sprintf("  run %q again for the next %s, or raise %s", next,
			term.Commas(n), key), "next", next, "key", key))
	}
}

// suspect returns what may be wrong with this machine if the run fetched no page.
func suspect(errors map[string]int) string {
	if len(errors) == 1 && errors[schema.CauseTLS.ErrorKind()] > 0 {
		return "the network's log-in and this machine's clock; a proxy that reads along needs its certificate in " +
			"[network] ca-file"
	}
	return "the network"
}

// maxRemarks is the maximum number of remarks of each kind.
const maxRemarks = 20

// remarks returns how a map is incomplete.
func remarks(s *survey.Survey) ([]term.Remark, error) {
	var hosts hostRemarks
	if err := s.Hosts.Each(hosts.add); err != nil {
		return nil, err
	}
	lines := hosts.all()
	for _, more := range []func(*survey.Survey) ([]term.Remark, error){omissions, strays, uncovered} {
		further, err := more(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, further...)
	}
	return lines, nil
}

// hostRemarks are the remarks on single hosts.
type hostRemarks struct {
	cut, empty  []term.Remark
	left        int // number of further hosts that were cut
	gone, plain failures
}

func (r *hostRemarks) add(h *survey.HostReport) error {
	name := term.Clean(h.Host.Name, 253)
	switch {
	case len(h.Origins) > 0 && h.Cover.Cut() && h.Cover != survey.CoverDenied:
		if len(r.cut) < maxRemarks {
			r.cut = append(r.cut, term.Event("origin cut", show.CutLine(h), "host", name, "pages", h.Processed,
				"missing", h.KnownMissing, "reason", h.Coverage))
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

func (r *hostRemarks) all() []term.Remark {
	lines := r.cut
	if r.left > 0 {
		text := fmt.Sprintf("and %s more; the summary has them all", term.Count(r.left, "host", "hosts"))
		lines = append(lines, term.Event("further origins cut", text, "count", r.left))
	}
	lines = append(lines, r.gone.remarks()...)
	for _, g := range r.plain.groups {
		text := fmt.Sprintf("%s %s (%s)", term.Count(g.count, "host was", "hosts were"), g.reason, g.named())
		lines = append(lines, term.Event("hosts "+g.reason, text, "count", g.count, "hosts", g.names))
	}
	return append(lines, r.empty...)
}

// unlinked reports that pages of a host likely need their scripts or, if there is no sign of that, have no links.
func unlinked(name string, h *survey.HostReport) (term.Remark, bool) {
	switch {
	case h.Shells > 0:
		return term.Event("pages likely need scripts", fmt.Sprintf("%s: %s of %s likely need scripts", term.ShownHost(name,
			253), term.Commas(h.Shells),
			term.Count(h.HTML, "page", "pages")), "host", name, "count", h.Shells), true
	case h.Unlinked():
		return term.Event("no page has a link", fmt.Sprintf("%s: %s without a link", term.ShownHost(name, 253),
			term.Count(h.HTML, "page", "pages")), "host", name, "count", h.HTML), true
	}
	return term.Remark{}, false
}

// strays reports the seeds that redirect out of their origins.
func strays(s *survey.Survey) (lines []term.Remark, err error) {
	stray, err := survey.StraySeeds(s)
	for _, seed := range stray[:min(len(stray), maxRemarks)] {
		from, to := term.Clean(seed.Seed, 200), term.Clean(seed.End, 200)
		lines = append(lines, term.Event("a seed ends outside its origin",
			fmt.Sprintf("seed %s ends outside its origin, at %s",
				term.ShownHost(seed.Seed, 200), term.ShownHost(seed.End, 200)), "seed", from, "at", to))
	}
	return lines, err
}

// uncovered reports the subdomains of origins that no entry covers.
func uncovered(s *survey.Survey) (lines []term.Remark, err error) {
	below, err := survey.UncoveredSubdomains(s)
	for _, u := range below[:min(len(below), maxRemarks)] {
		host := term.Clean(u.Host, 253)
		text := fmt.Sprintf("%s is not covered (%s); domain = %q would",
			term.ShownHost(u.Host, 253), term.Count(u.Links, "link", "links"), u.Pattern)
		lines = append(lines, term.Event("a subdomain of an origin is not covered", text, "host", host, "count", u.Links,
			"pattern", u.Pattern))
	}
	return lines, err
}

// omissions reports which links are not on the map, and which sites have hosts that are not.
func omissions(s *survey.Survey) (lines []term.Remark, err error) {
	sites, err := survey.CutSites(s)
	for _, site := range sites[:min(len(sites), maxRemarks)] {
		cut := answer.CutSite(site)
		lines = append(lines, term.Event("site cut", show.SiteLine(cut), "site", term.Clean(cut.Site, 253), "hosts",
			cut.Hosts,
			"links_left_out", cut.Overflow, "reason", cut.Limit))
	}
	if err != nil {
		return nil, err
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	if n := counts.LinksOmitted - counts.LinksRefused; n > 0 {
		lines = append(lines, term.Event("links left out", term.Count(n, "link was", "links were")+
			" met and left out; the summary and the database say of which hosts", "count", n))
	}
	if n := counts.LinksRefused; n > 0 {
		lines = append(lines, term.Event("links refused", term.Count(n, "link", "links")+
			" left out: no URL, or longer than max-length; the database says of which hosts", "count", n))
	}
	return lines, nil
}
