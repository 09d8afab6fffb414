package config

import "github.com/sumi-ripple/ripple/schema/scope"

func qualityKeys(q *Quality) []key {
	return []key{
		{name: "domain", doc: "\"example.com\", or \"*.example.com\" for it and all names below it", required: true,
			sample: `"` + placeholder + `"`, value: domain(&q.Pattern, &q.Name)},
		{name: "seeds", doc: "where the walk begins: HTTPS URLs of the domain", required: true,
			sample: `["https://` + placeholder + `/"]`, value: nonEmptyList(&q.Seeds, text, tomlString)},
		{name: "sitemaps", doc: "central sitemaps, on any host, that speak for all hosts of the entry",
			value: list(&q.Sitemaps, text, tomlString)},
		{name: "max-requests", doc: "this entry's own budget per host; 0: max-domain-requests",
			value: number(&q.MaxRequests, 0, most)},
		{name: "include", doc: "regular expressions on path?query; empty: everything",
			value: list(&q.Include, expression, tomlRegexp)},
		{name: "exclude", doc: "regular expressions on path?query", value: list(&q.Exclude, expression, tomlRegexp)},
	}
}

func listKeys(l *List) []key {
	return []key{
		{name: "domain", doc: "a name, or \"*.\" and a name", sample: `"*.tracking-service.com"`, value: pattern(&l.Domain)},
		{name: "file", doc: "plain or hosts-file lines: that name; \"*.name\" or \"||name^\": also all names below it",
			sample: `"./hosts-to-avoid.txt"`, value: optional(&l.File, checkFileName)},
		{name: "preset", doc: "ads | analytics | social: short built-in lists", sample: `"ads"`, value: preset(&l.Preset)},
		{name: "url", doc: "regular expression on the normalised URL", sample: `'/logout($|\?)'`, value: regular(&l.URL)},
		{name: "names", doc: "the names in the file or the preset", stored: true, value: names(&l.Names)},
	}
}

func pageTypeKeys(p *PageType) []key {
	return []key{
		{name: "name", doc: "name of the page type", required: true, sample: `"issues"`, value: str(&p.Name, notEmpty)},
		{name: "domain", doc: "hosts that it applies to; absent: all", sample: `"github.com"`, value: pattern(&p.Pattern)},
		{name: "path", doc: "regular expression on path?query; without a group \"group\" the host is the group",
			sample: `'^/(?P<group>[^/]+/[^/]+)/issues'`, value: grouped(&p.Path)},
		{name: "max-per-group", doc: "pages per group and run; 0: all", sample: "50", value: number(&p.MaxPerGroup, 0, most)},
	}
}

func entityKeys(e *Entity) []key {
	return []key{
		{name: "domain", doc: "hosts that it applies to", required: true, sample: `"github.com"`, value: pattern(&e.Pattern)},
		{name: "by", doc: "path-1, path-2, ... | host | site", required: true, sample: `"path-1"`,
			value: bind(&e.By, entityBy, func(by scope.By) string { return tomlString(by.String()) })},
		{name: "with", doc: "other hosts of the same owner, by = \"host\": all are one node, named after domain",
			sample: "[]", value: patterns(&e.With)},
	}
}

func extractKeys(e *Extract) []key {
	return []key{
		{name: "name", doc: "name of the fact", required: true, sample: `"author"`, value: str(&e.Name, notEmpty)},
		{name: "domain", doc: "hosts that it applies to; absent: all", sample: `"*.example.com"`,
			value: optionalPattern(&e.Domain)},
		{name: "selector", doc: "CSS; :nth-child, :has and the like find nothing if one element has 20,000 children",
			required: true, sample: `'meta[name="author"]'`, value: str(&e.Selector, checkSelector)},
		{name: "attr", doc: "an attribute of the element; absent: its text", sample: `"content"`,
			value: optional(&e.Attr, notEmpty)},
	}
}
