// Package parked recognises domains that are for sale. What such an offer looks like is data, see [Rules]; README.md
// tells how to add a rule.
package parked

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// ByRedirect returns the rule by which a redirect from a host's front page to a URL offers the domain; nil: none does.
// The URL must name the domain and be of another site: marketplaces have domains of their own that redirect to them.
func ByRedirect(host, target string) *Rule {
	to, site := weburl.Host(target), weburl.Site(host)
	if site == weburl.Site(to) || !names(strings.ToLower(weburl.PathQuery(target)), site) && !names(to, site) {
		return nil
	}
	return find(RedirectHost, func(pattern string) bool {
		return to == pattern || strings.HasSuffix(to, "."+pattern)
	})
}

// names reports whether a text has a domain as a whole word.
func names(text, domain string) bool {
	i := strings.Index(text, domain)
	if i < 0 {
		return false
	}
	end := i + len(domain)
	return (i == 0 || !isLabel(text[i-1])) && (end == len(text) || !isLabel(text[end]) && text[end] != '.')
}

func isLabel(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' }

// ByTitle returns the rule by which the title of a page without other content offers the domain of a host; nil: it does
// not.
func ByTitle(host, title string) *Rule {
	title = strings.Trim(strings.ToLower(title), " .!")
	title = strings.Join(strings.Fields(title), " ")
	return find(Title, func(pattern string) bool {
		for _, name := range []string{host, weburl.Site(host), "www." + host} {
			if strings.ReplaceAll(pattern, "NAME", name) == title {
				return true
			}
		}
		return false
	})
}

func find(where Place, matches func(pattern string) bool) *Rule {
	for _, r := range Rules() {
		if r.Where == where && slices.ContainsFunc(r.Patterns, matches) {
			return &r
		}
	}
	return nil
}
