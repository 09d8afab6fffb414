// Package robots decides what robots.txt allows a crawler to ask for, and names the
// line that says so.
//
// It follows RFC 9309: the groups that name the crawler's own token are merged, the
// group of "*" counts only where there is none; among the rules that match, the one with
// most octets wins, and Allow wins a tie; "*" stands for any octets and a final "$" for
// the end. Both sides are compared in one spelling of percent-encoding. /robots.txt
// itself is always allowed, and so is everything that no rule matches.
//
// Robots files come from strangers, so [Parse] never fails and takes linear time and
// memory, whatever it is given, and [Rules.Check] never backtracks. Fetching, status
// codes and caching are the caller's: a robots.txt that does not exist is [AllowAll].
package robots

import (
	"strings"
	"time"
	"unsafe"
)

// MaxBytes is how much of a robots.txt is read: 500 KiB (RFC 9309, section 2.5). A body
// of this length or more is cut after its last whole line.
const MaxBytes = 512_000

const maxRuleText = 256

// Rules is what one robots.txt says to one crawler. It is immutable and may be used by
// any number of goroutines; it keeps the lines that apply, not the file. The zero value
// allows everything.
type Rules struct {
	agent    string
	text     string // of the rules; each holds offsets into it
	rules    []rule // in the order in which they win: see byPrecedence
	wild     int    // how many of them hold a "*"
	delay    time.Duration
	hasDelay bool
	sitemaps []string
}

// A Verdict says whether a URL may be asked for, and by which line.
type Verdict struct {
	Allowed bool
	Rule    string // the line as the server wrote it, without its comment, at most 256 bytes; "" when no rule matched
	Line    int    // counted from 1; 0 when no rule matched
}

// AllowAll returns the rules of a site without robots.txt.
func AllowAll() *Rules { return &Rules{} }

// Agent returns the group that applies: the crawler's own token, "*", or "" when the file
// speaks to neither.
func (r *Rules) Agent() string { return r.agent }

// CrawlDelay returns the pause that the group asks for between two requests, the longest
// where it asks for several, and whether it asks for one. It is never negative and at
// most a year.
func (r *Rules) CrawlDelay() (time.Duration, bool) { return r.delay, r.hasDelay }

// Sitemaps returns the sitemaps that the file names, to whomever it names them, as
// written and each once: all those of at most 2,048 bytes.
func (r *Rules) Sitemaps() []string { return r.sitemaps[:len(r.sitemaps):len(r.sitemaps)] }

// Size is about what the rules take in memory, in bytes: of the longest file, four times its length.
func (r *Rules) Size() int {
	n := len(r.text) + len(r.rules)*int(unsafe.Sizeof(rule{}))
	for _, s := range r.sitemaps {
		n += len(s) + int(unsafe.Sizeof(s))
	}
	return n
}

// Check decides on the path and query of a URL as they are requested, such as
// "/search?q=a". An empty path means "/"; a fragment is ignored. The time it takes grows
// with the length of the path, which is the caller's to bound.
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
