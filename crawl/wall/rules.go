package wall

import (
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

// A Place is where a rule looks.
type Place uint8

// The places.
const (
	HeaderField Place = iota // a field of the header, whose value is one of the patterns
	ScriptID                 // the id of a <script>
	ScriptText               // the text of a <script>
	Resource                 // the address on the page's host of a script, style sheet, image or frame, or a script's text
)

// A Condition must hold in addition to a pattern.
type Condition uint8

// The conditions.
const (
	NoIndex    Condition = 1 << iota // a robots meta says noindex
	NoOwnLinks                       // no link leads to another page of the host
	LittleText                       // no title, and less than 1 KiB of text
)

// A Rule says how the answers of one kind of wall are recognised.
type Rule struct {
	ID       string // never changes and is never used again
	Vendor   string
	Date     string // when the rule was added or last changed, as in "2026-11-28"
	Source   string // where the sign is documented or can be seen
	Where    Place
	Field    string   // of HeaderField
	Patterns []string // one of them; in lower case for HeaderField
	Statuses []int    // nil: any
	Needs    Condition
}

// Sign says what the rule finds, and where.
func (r *Rule) Sign() string {
	where := [...]string{
		HeaderField: "header field " + r.Field, ScriptID: "id of a script", ScriptText: "text of a script",
		Resource: "address of a resource, or text of a script,",
	}[r.Where]
	text := where + " " + strings.Join(r.Patterns, " or ")
	if r.Needs&NoIndex != 0 {
		text += "; a robots meta says noindex"
	}
	if r.Needs&NoOwnLinks != 0 {
		text += "; no link leads to another page of the host"
	}
	if r.Needs&LittleText != 0 {
		text += "; no title, and little text"
	}
	return text
}

// Version names the rules as they are.
func Version() string { return schema.TableVersion(Rules(), func(r Rule) string { return r.Date }) }

// Rules returns all rules, in the order in which they are tried.
func Rules() []Rule {
	return []Rule{
		{ID: "cloudflare-header", Vendor: "Cloudflare", Date: "2026-11-28", Where: HeaderField,
			Source: "Cloudflare documentation: Challenges, Detect a challenge page response",
			Field:  "Cf-Mitigated", Patterns: []string{"challenge"}},
		{ID: "vercel-header", Vendor: "Vercel", Date: "2026-11-28", Where: HeaderField,
			Source: "Vercel documentation: Attack Challenge Mode",
			Field:  "X-Vercel-Mitigated", Patterns: []string{"challenge"}},
		{ID: "aws-waf-header", Vendor: "AWS WAF", Date: "2026-11-28", Where: HeaderField,
			Source: "AWS WAF Developer Guide: CAPTCHA and Challenge in AWS WAF",
			Field:  "X-Amzn-Waf-Action", Patterns: []string{"challenge", "captcha"}},
		{ID: "datadome-header", Vendor: "DataDome", Date: "2026-11-28", Where: HeaderField,
			Source: "DataDome documentation: response headers of protection modules",
			Field:  "X-Datadome", Patterns: []string{"protected"}, Statuses: []int{403}},
		{ID: "anubis-challenge", Vendor: "Anubis", Date: "2026-11-28", Where: ScriptID,
			Source:   "Anubis: template of the challenge page",
			Patterns: []string{"anubis_challenge"}},
		{ID: "anubis-resource", Vendor: "Anubis", Date: "2026-11-28", Where: Resource,
			Source:   "Anubis: template of its pages",
			Patterns: []string{"/.within.website/x/cmd/anubis/"}, Needs: NoIndex},
		{ID: "cloudflare-script", Vendor: "Cloudflare", Date: "2026-11-28", Where: ScriptText,
			Source:   "Cloudflare: challenge page as served",
			Patterns: []string{"_cf_chl_opt"}, Needs: NoOwnLinks},
		{ID: "imperva-resource", Vendor: "Imperva", Date: "2026-11-28", Where: Resource,
			Source:   "Imperva: challenge page as served",
			Patterns: []string{"/_Incapsula_Resource"}, Needs: LittleText},
	}
}
