package missing

import (
	"net/http"
	"path"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Manner is how a host answers requests for pages that do not exist.
type Manner uint8

// The manners.
const (
	NotAsked Manner = iota
	Honest          // with 404 or 410
	Soft            // with a page or a redirect, as for pages that exist
	Unknown         // with something that tells nothing, such as a wall, an error of the server or a login
)

// String returns the manner as written in SQL; empty: the host was not asked.
func (m Manner) String() string {
	return [...]string{NotAsked: "", Honest: "honest", Soft: "soft", Unknown: "unknown"}[m]
}

// MannerOf returns the manner that the answer of a host shows. If it is [Soft], pages may be compared with it.
func MannerOf(p *schema.MissingProbe) Manner {
	switch {
	case p.Run == 0:
		return NotAsked
	case p.Walled:
		return Unknown
	case p.Status == http.StatusNotFound || p.Status == http.StatusGone:
		return Honest
	case p.Status >= 300 && p.Status <= 399 && p.Target != "" && !asksLogin(p.Target):
		return Soft
	case p.Status >= 200 && p.Status <= 299 && !p.Shell && (p.Shown != 0 || p.Sim != 0):
		return Soft
	}
	return Unknown
}

// asksLogin reports whether a redirect leads to where visitors log in. Pages that exist may lead there, too.
func asksLogin(target string) bool {
	_, rest, _ := strings.Cut(target, "://")
	for segment := range strings.FieldsFuncSeq(rest, func(c rune) bool { return strings.ContainsRune("/?&=.-_", c) }) {
		switch segment {
		case "login", "signin", "logon", "auth", "sso", "oauth", "oauth2", "saml", "cas", "account", "accounts":
			return true
		}
	}
	return false
}

// Version names the rules as they are: the date of their last change.
const Version = "2026-11-28"

// The rules by which a page is one that does not exist.
const (
	RuleSame     = "missing-same"     // it shows the same
	RuleNear     = "missing-near"     // it is a near-duplicate with the same title
	RuleRedirect = "missing-redirect" // it redirects to the same address
)

// Meaning returns in words what a rule found.
func Meaning(rule string) string {
	switch rule {
	case RuleSame:
		return "shows what the host shows for pages that do not exist"
	case RuleNear:
		return "shows nearly what the host shows for pages that do not exist"
	case RuleRedirect:
		return "redirects to where the host redirects from pages that do not exist"
	}
	return rule
}

// leastRedirects is the number of pages that must redirect to an address for that to mean anything.
const leastRedirects = 6

// Enough reports whether n pages that are found by a rule mean anything.
func Enough(rule string, n int) bool { return rule != RuleRedirect || n >= leastRedirects }

// MayBe reports whether a page may be compared with what a host answered for a page that does not exist: it is neither
// the front page nor one that needs scripts.
func MayBe(pathQuery string, c *schema.Content) bool {
	return c.Shell == 0 && c.Rendering == 0 && !isFront(pathQuery)
}

// isFront reports whether a path and query is that of a front page.
func isFront(pathQuery string) bool {
	p, _, _ := strings.Cut(pathQuery, "?")
	switch base := strings.TrimSuffix(p, path.Ext(p)); base {
	case "/", "/index", "/default", "/home":
		return true
	}
	return false
}

// Compare returns the rule by which a page is like what a host answered for a page that does not exist; empty: it is
// not.
func Compare(p *schema.MissingProbe, c *schema.Content) string {
	switch {
	case p.Status < 200 || p.Status > 299:
		return ""
	case p.Shown != 0 && p.Shown == c.Shown:
		return RuleSame
	case p.Title == c.Title && p.Sim != 0 && c.SimHash != 0 && p.Sim.Near(c.SimHash):
		return RuleNear
	}
	return ""
}

// CompareRedirect returns the rule by which a redirect is like what a host answered for a page that does not exist;
// empty: it is not. from and to are the identities of the page and of the target.
func CompareRedirect(p *schema.MissingProbe, from, to string) string {
	if p.Target != "" && Target(to, weburl.PathQuery(from)) == p.Target {
		return RuleRedirect
	}
	return ""
}
