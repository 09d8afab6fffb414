// Package robots decides what robots.txt allows a crawler to request, and names the deciding line.
//
// It follows RFC 9309: groups that name the crawler's own token are merged, and the group of "*" counts only
// if there is none. Among matching rules the one with the most octets wins, and Allow wins a tie; "*" matches
// any octets and a final "$" the end. Both sides are compared in one spelling of percent-encoding.
// /robots.txt itself is always allowed, as is everything that no rule matches.
//
// Files are untrusted, so [Parse] never fails and takes linear time and memory for any input, and
// [Rules.Check] never backtracks. Fetching, status codes and caching are up to the caller: a robots.txt that
// does not exist is [AllowAll].
//
// github.com/temoto/robotstxt is the oracle of a differential test: on generated files both must decide
// alike, except for twenty classes of lines about which they are known to differ. In most of them RFC 9309
// decides: Allow wins a tie, a pattern begins at the start of the path, the product token is compared whole,
// both sides are compared in one percent-encoding, and /robots.txt is always allowed. The library rejects
// some files as a whole that are read here line by line. The table in differential_test.go has each class
// with an example.
package robots

import (
	"strings"
	"time"
	"unsafe"
)

// MaxBytes is how much of a robots.txt is read: 500 KiB (RFC 9309, section 2.5). A body of this length or
// more is cut after its last complete line.
const MaxBytes = 512_000

const maxRuleText = 256

// Rules are the rules of one robots.txt for one crawler. They are immutable and safe for concurrent use; they
// retain the applicable lines, not the file. The zero value allows everything.
type Rules struct {
	agent    string
	text     string // of the rules, which hold offsets into it
	rules    []rule // in order of precedence: see byPrecedence
	wild     int    // number of rules with a "*"
	delay    time.Duration
	hasDelay bool
	sitemaps []string

	said           string // the text of the statements, which hold offsets into it
	statements     []statement
	wildStatements int // number of statements whose path has a "*"
}

// A Verdict says whether a URL may be requested, and which line decides that.
type Verdict struct {
	Allowed bool
	Rule    string // the line as written, without its comment, at most 256 bytes; "" if no rule matched
	Line    int    // counted from 1; 0 if no rule matched
}

// AllowAll returns the rules of a site without robots.txt.
func AllowAll() *Rules { return &Rules{} }

// Agent returns the applicable group: the crawler's own token, "*", or "" if the file addresses neither.
func (r *Rules) Agent() string { return r.agent }

// CrawlDelay returns the delay between two requests that the group asks for, the longest of several, and
// whether it asks for one. It is never negative and at most a year.
func (r *Rules) CrawlDelay() (time.Duration, bool) { return r.delay, r.hasDelay }

// Sitemaps returns the sitemaps in the file, in any group, as written and without duplicates.
// Longer ones than 2,048 bytes are left out.
func (r *Rules) Sitemaps() []string { return r.sitemaps[:len(r.sitemaps):len(r.sitemaps)] }

// Size returns the approximate memory of the rules in bytes: at most four times the length of the longest
// file.
func (r *Rules) Size() int {
	n := len(r.text) + len(r.rules)*int(unsafe.Sizeof(rule{})) + r.statementsSize()
	for _, s := range r.sitemaps {
		n += len(s) + int(unsafe.Sizeof(s))
	}
	return n
}

// Check decides on the path and query of a URL as requested, such as "/search?q=a". An empty path means "/";
// a fragment is ignored. The time grows with the length of the path, which the caller must limit.
func (r *Rules) Check(pathQuery string) Verdict {
	t := newTarget(pathQuery)
	if t.path == "/robots.txt" || strings.HasPrefix(t.path, "/robots.txt?") {
		return Verdict{Allowed: true}
	}
	if r.wild > gramsFrom {
		t.index()
	}
	for i := range r.rules {
		rule := &r.rules[i]
		if t.matches(r.pattern(rule), rule) {
			return Verdict{Allowed: rule.allow, Rule: r.line(rule)[:min(rule.lineEnd-rule.lineAt, maxRuleText)],
				Line: int(rule.lineNo)}
		}
	}
	return Verdict{Allowed: true}
}

func (r *Rules) pattern(rule *rule) string { return r.text[rule.patternAt:rule.patternEnd] }

func (r *Rules) line(rule *rule) string { return r.text[rule.lineAt:rule.lineEnd] }
