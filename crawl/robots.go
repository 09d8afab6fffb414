package crawl

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	maxRobotsHops = 5
	maxRobotsAge  = 30 * 24 * time.Hour // of a copy that stands while robots.txt is unreachable
)

// verdictDenied settles a page that robots.txt forbids.
func verdictDenied(v robots.Verdict) verdict {
	denied := settled(schema.Failed, "denied by robots.txt")
	denied.rule = fmt.Sprintf("robots.txt line %d: %s", v.Line, v.Rule)
	return denied
}

// rulesOf returns what robots.txt of a host says, nil if that must be asked
// first. A copy stands for robots-ttl; while the file is unreachable, for 30
// days, between the tries and after the last one.
func (t *turn) rulesOf(h *schema.Host) (*robots.Rules, error) {
	age := t.now.Sub(h.RobotsAt)
	fresh := !h.RobotsAt.IsZero() && age < t.set.cfg.Politeness.RobotsTTL
	stands := !h.RobotsAt.IsZero() && age < maxRobotsAge && h.RobotsTries > 0 && (t.robotsFailed(h) || h.RobotsDue.After(t.now))
	if fresh || stands {
		return t.parsedRobots(h)
	}
	if t.robotsFailed(h) && t.set.cfg.Politeness.RobotsUnreachable == config.RobotsAllow {
		return robots.AllowAll(), nil
	}
	return nil, nil
}

// robotsFailed reports whether robots.txt was tried as often as it should be.
func (t *turn) robotsFailed(h *schema.Host) bool {
	return int(h.RobotsTries) > t.set.cfg.Retry.MaxRetries
}

func (t *turn) parsedRobots(h *schema.Host) (*robots.Rules, error) {
	if rules, ok := t.parsed[h.ID]; ok {
		return rules, nil
	}
	file, ok, err := t.tx.Robots(h.ID)
	if err != nil || !ok {
		return nil, err
	}
	rules := robots.AllowAll()
	if file.Text != nil {
		rules = robots.Parse(file.Text, t.set.cfg.UserAgent.CrawlerName)
	}
	if len(t.parsed) >= maxParsedRobots {
		clear(t.parsed)
	}
	t.parsed[h.ID] = rules
	return rules, nil
}

// nextRobots plans the request for a host's robots.txt. Without a step the host
// waits until the time returned, or, if that is zero, for an answer that is on
// its way.
func (t *turn) nextRobots(h *schema.Host, live *liveHost) (*Step, time.Time, error) {
	if live.robots {
		return nil, time.Time{}, nil
	}
	if t.robotsFailed(h) {
		t.giveUp(h, schema.GaveUpRobots, "robots.txt unavailable: "+h.RobotsCause)
		return nil, time.Time{}, nil
	}
	if h.RobotsDue.After(t.now) {
		return nil, h.RobotsDue, nil
	}
	form, err := t.firstForm(h)
	if err != nil {
		return nil, time.Time{}, err
	}
	if err := t.admit(h); err != nil {
		return nil, time.Time{}, err
	}
	live.robots = true
	return &Step{
		Kind: StepRobots, Host: h.ID, For: h.ID, URL: "https://" + weburl.Host(form) + "/robots.txt",
		Timeout: t.set.timeout(int(h.RobotsTries)), Settings: t.set,
	}, time.Time{}, nil
}

// firstForm returns the fetch URL of the page that the host waits with.
func (t *turn) firstForm(h *schema.Host) (string, error) {
	var first schema.ID
	if len(h.Retries) > 0 {
		first = h.Retries[0].URL
	}
	if err := t.tx.Walk(h, func(_ uint8, id schema.ID) bool { first = id; return false }); err != nil {
		return "", err
	}
	if first == 0 {
		return "https://" + h.Name + "/", nil
	}
	forms, err := t.formsOf(first, h)
	if err != nil {
		return "", err
	}
	return forms[0], nil
}

// applyRobots takes the answer to a request for robots.txt, which may have been
// asked of another host than the one it is for.
func (t *turn) applyRobots(asked *schema.Host, o *Outcome) error {
	h, err := t.host(o.Step.For)
	if err != nil {
		return err
	}
	t.tx.PutHost(h)
	t.touch(h.ID)
	live := t.liveOf(h.ID)
	live.robots = false
	if !o.throttled() {
		unthrottle(asked, o)
	}
	switch {
	case o.Cause == fetch.Cancelled:
		return nil
	case o.throttled():
		t.throttle(asked, o)
		t.robotsUnreachable(h, statusText(o.Status))
		return nil
	case !o.answered():
		return t.robotsUnanswered(asked, h, o)
	case o.Status >= 200 && o.Status <= 299:
		return t.keepRobots(h, o.Status, o.Robots, o)
	case o.Status >= 300 && o.Status <= 399:
		return t.robotsRedirect(h, o)
	case o.Status >= 400 && o.Status <= 499:
		return t.keepRobots(h, o.Status, nil, o)
	}
	t.robotsUnreachable(h, statusText(o.Status))
	return nil
}

// keepRobots stores an answer that holds for the host. No text allows all.
func (t *turn) keepRobots(h *schema.Host, status int, text []byte, o *Outcome) error {
	h.RobotsAt, h.RobotsStatus, h.RobotsTries, h.RobotsCause = o.FirstByte.Truncate(time.Millisecond), status, 0, ""
	h.RobotsDue = time.Time{}
	if o.Step.Visit.Unreached && o.Step.For == o.Step.Host && isWWW(o.Step.URL, h.Name) {
		h.WWW = true
	}
	if err := t.tx.PutRobots(h.ID, schema.RobotsCopy{At: h.RobotsAt, Status: status, Text: text}); err != nil {
		return err
	}
	delete(t.parsed, h.ID)
	rules, err := t.parsedRobots(h)
	if err != nil {
		return err
	}
	h.CrawlDelay, _ = rules.CrawlDelay()
	live := t.liveOf(h.ID)
	if o.Step.For == o.Step.Host {
		live.rest(t.set.cfg, h, o)
	} else if at := h.LastByte.Add(time.Millisecond + fullDelay(t.set.cfg, h)); at.After(live.ready) {
		live.ready = at // another host's answer has brought a Crawl-delay
	}
	t.log.Debug("robots.txt", "host", h.Name, "status", status, "crawl-delay", h.CrawlDelay)
	return nil
}

// robotsUnanswered follows SPEC 7: a host that can not be reached at all is
// given up at once, silence is tried again.
func (t *turn) robotsUnanswered(asked, h *schema.Host, o *Outcome) error {
	if next := o.again(); next != nil {
		t.liveOf(h.ID).robots = true
		t.liveOf(o.Step.Host).next = append(t.liveOf(o.Step.Host).next, *next)
		return nil
	}
	if o.Cause.Connection() {
		if form := otherAuthority(o.Step.URL); o.Step.For == o.Step.Host && !slices.Contains(o.Step.Visit.Asked, form) && !isLiteral(h.Name) {
			next := o.follow()
			next.Visit.Unreached, next.Visit.Cause = true, o.Error
			next.URL = form
			t.liveOf(h.ID).robots = true
			t.liveOf(h.ID).next = append(t.liveOf(h.ID).next, *next)
			return nil
		}
	}
	if o.Step.For != o.Step.Host { // it redirects to a host that can not be reached
		t.connectionFailures(asked)
		t.robotsUnreachable(h, "redirects to "+asked.Name+": "+o.Error)
		return nil
	}
	switch o.Cause {
	case fetch.NXDomain, fetch.Refused, fetch.TLS, fetch.TLSTimeout, fetch.RefusedAddress:
		t.giveUp(h, schema.GaveUpConnection, cmp.Or(o.Step.Visit.Cause, o.Error))
		return nil
	}
	t.connectionFailures(h)
	t.robotsUnreachable(h, o.Error)
	return nil
}

func (t *turn) robotsUnreachable(h *schema.Host, why string) {
	h.RobotsTries++
	h.RobotsCause = schema.Clean(why, 256)
	h.RobotsDue = t.now.Add(backoff(t.set.cfg.Retry, int(h.RobotsTries)))
}

// robotsRedirect follows up to five redirects, also to other hosts, but never to
// one that is not to be visited.
func (t *turn) robotsRedirect(h *schema.Host, o *Outcome) error {
	next := o.follow()
	next.Visit.Hops++
	if o.Location == nil || next.Visit.Hops > maxRobotsHops || !t.set.terrain.Classify(o.Location.Norm).Class.Visitable() {
		return t.keepRobots(h, http.StatusNotFound, nil, o)
	}
	if slices.Contains(next.Visit.Asked, o.Location.Form) {
		t.robotsUnreachable(h, "redirect loop")
		return nil
	}
	next.URL = o.Location.Form
	id, err := t.hostID(o.Location.Host())
	if err != nil {
		return err
	}
	target, err := t.host(id)
	if err != nil {
		return err
	}
	if target.RunGivenUp == schema.GaveUpConnection || target.RunGivenUp == schema.GaveUpRateLimit {
		t.robotsUnreachable(h, "redirects to "+target.Name+", which is given up")
		return nil
	}
	next.Host = id
	t.tx.PutHost(target)
	t.liveOf(h.ID).robots = true
	t.liveOf(id).next = append(t.liveOf(id).next, *next)
	t.touch(id)
	return nil
}

// robotsDropped follows a request for robots.txt that is not made, because its
// host was given up. Where another host waits for it, that one has no answer.
func (t *turn) robotsDropped(step Step) error {
	t.liveOf(step.For).robots = false
	if step.For == step.Host {
		return nil
	}
	h, err := t.host(step.For)
	if err != nil {
		return err
	}
	t.robotsUnreachable(h, "redirects to a host that is given up")
	t.tx.PutHost(h)
	t.touch(h.ID)
	return nil
}

// otherAuthority returns a robots.txt URL with its www. added or taken away.
func otherAuthority(url string) string {
	rest := strings.TrimPrefix(url, "https://")
	if bare, ok := strings.CutPrefix(rest, "www."); ok {
		return "https://" + bare
	}
	return "https://www." + rest
}

// isWWW reports whether a form asks a host at its www. name.
func isWWW(form, host string) bool { return weburl.Host(form) == "www."+host }
