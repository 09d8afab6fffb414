package answer

import (
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// IsHost reports whether an argument names a host rather than a page: it has no scheme, slash,
// query or fragment.
func IsHost(raw string) bool { return raw != "" && !strings.ContainsAny(raw, "/?#") }

// HostNamed returns the name of the host in the form in which pages have it.
func HostNamed(raw string) (string, error) {
	if !IsHost(raw) {
		return "", term.Usage("%q is not the name of a host", term.Clean(raw, 200))
	}
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		return "", err
	}
	u, err := parseHost(rules, raw)
	return u.Host(), err
}

// parseHost parses the name of a host, which need not contain a dot, as the URL of its front page.
func parseHost(rules *weburl.Rules, raw string) (weburl.URL, error) {
	if strings.Contains(raw, "@") { // an e-mail address, or a URL with user information
		return ParseURL(rules, raw)
	}
	return ParseURL(rules, "https://"+raw)
}

// InspectHost returns what is known of a host. It lists the hosts that link to it, and its most linked
// pages, by the links in one of the [Places]; empty: in any.
func (r Inspector) InspectHost(raw, place string, limit int) (*Host, error) {
	if err := checkPlace(place); err != nil {
		return nil, err
	}
	u, err := parseHost(r.Config().Rules(), raw)
	if err != nil {
		return nil, err
	}
	name := u.Host()
	verdict := r.Scope().HostClass(name)
	d := &Host{Input: raw, Domain: name, Shown: weburl.ShownIfOther(name), Site: weburl.Site(name),
		Class: verdict.Class.String(), Rule: verdict.Rule, Origin: []string{}, Tags: []string{},
		Visitable: verdict.Class.Visitable()}
	noted := r.Hosts.Noted(name)
	d.Tags, d.Note, d.Later = append(d.Tags, noted.Tags...), noted.Note, noted.Later
	for _, i := range r.Scope().OriginsOf(name) {
		d.Origin = append(d.Origin, r.Scope().Origins()[i].Name)
	}
	var id schema.HostID
	err = r.Store.View(func(tx *kv.Tx) error {
		var err error
		id, d.Met, err = tx.Hosts.Lookup(name)
		return err
	})
	if err == nil && d.Met {
		d.Met, err = r.Hosts.Maps(id)
	}
	if err == nil && !d.Met && id != 0 {
		if _, archived, failed := r.pagesOf(id); failed != nil {
			err = failed
		} else {
			d.Archives, err = r.ArchivesOf(archived)
		}
		return d, err
	}
	if err == nil && !d.Met {
		d.Near, err = NearHosts(r.Store, name)
	}
	if err != nil || !d.Met {
		return d, err
	}
	d.KnownHost, err = r.knownHost(id, place, limit)
	return d, err
}

// knownHost returns what is known of a host that was met.
func (r Inspector) knownHost(id schema.HostID, place string, limit int) (*KnownHost, error) {
	report, err := r.Hosts.Report(id)
	if err != nil {
		return nil, err
	}
	k := r.hostFacts(report)
	if k.Hands, err = r.Survey.ChangedHandsOf(id); err != nil {
		return nil, err
	}
	f, err := r.Fetching()
	if err != nil {
		return nil, err
	}
	k.Fetching, _, _ = f.at(report.Host.Name)
	if k.Fetching > 0 || k.Waiting > 0 {
		k.Obstacle = r.waiting(report.Host, &f)
	}
	kept, err := r.Survey.Hosts.Robots(id)
	if err != nil {
		return nil, err
	}
	k.Robots = KeptRobots{kept.Status, timeOrNull(kept.At), string(kept.Text)}
	if err := r.addLinkedFrom(k, id, place, limit); err != nil {
		return nil, err
	}
	return k, r.addPages(k, id, place, limit)
}

// hostFacts returns the facts in the record of a host.
func (r Inspector) hostFacts(report *survey.HostReport) *KnownHost {
	h, run, cfg := report.Host, r.Run(), r.Config()
	k := &KnownHost{
		Open: r.Open, Imported: run.Kind == schema.RunImport, Run: int(run.ID),
		HostFigures: report.HostFigures, HostDetails: report.HostDetails,
		ByState: map[string]int{}, CrawlMS: h.CrawlDelay.Milliseconds(),
		Timeouts: int(h.Timeouts), AnswerMS: h.Smoothed.Milliseconds(),
		Budget: report.Limit, BudgetKey: report.LimitKey, Probe: newMissingProbe(h), Answered: []Answered{},
	}
	if report.WalledPages > 0 {
		k.Answered = append(k.Answered, *newAnswered(schema.AnswerChallenge, report.Wall))
	}
	if report.Parked != "" {
		k.Answered = append(k.Answered, *newAnswered(schema.AnswerParked, report.Parked))
	}
	for state, n := range report.ByState {
		if n > 0 {
			k.ByState[schema.State(state).String()] = n
		}
	}
	if h.Run == run.ID {
		k.BudgetUsed, k.RateLimited = h.RunRequests, h.RunThrottles
	}
	if !h.LastByte.IsZero() {
		k.Next = timeOrNull(clock.Ready(cfg, h))
	}
	if t := census.NewPace(cfg, &run, r.Hosts.Record).Trouble(h); t.Kind != schema.TroubleNone {
		k.Trouble, k.Again = t.String(), timeOrNull(t.Until)
	}
	return k
}
