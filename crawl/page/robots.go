package page

import "strings"

// A RobotsTag holds a page's directives for crawlers.
type RobotsTag struct{ NoIndex, NoFollow, NoArchive bool }

// maxAgent is the longest name considered, in bytes.
const maxAgent = 1024

// robots groups directives by addressee. Those for the agent replace those for everyone, however mild they
// are.
type robots struct {
	agent     string
	all, own  RobotsTag
	addressed bool // there are directives for the agent
}

func (r *robots) tag() RobotsTag {
	if r.addressed {
		return r.own
	}
	return r.all
}

// meta reads a <meta>, given its name and content as written.
func (r *robots) meta(name, content []byte) {
	if len(name) > maxAgent {
		return
	}
	to := r.addressee(strings.TrimSpace(attributeValue(string(name))))
	if to == nil {
		return
	}
	for directive := range strings.SplitSeq(attributeValue(string(content)), ",") {
		to.add(directive)
	}
}

// addressee returns the directives for name, or nil if they are for others.
func (r *robots) addressee(name string) *RobotsTag {
	switch {
	case r.agent != "" && strings.EqualFold(name, r.agent):
		r.addressed = true
		return &r.own
	case strings.EqualFold(name, "robots"):
		return &r.all
	}
	return nil
}

func (t *RobotsTag) add(directive string) {
	switch strings.ToLower(strings.TrimSpace(directive)) {
	case "noindex":
		t.NoIndex = true
	case "nofollow":
		t.NoFollow = true
	case "noarchive":
		t.NoArchive = true
	case "none":
		t.NoIndex, t.NoFollow = true, true
	}
}

// ParseRobotsTag parses the values of a response's X-Robots-Tag headers for agent. "name:" before a directive
// addresses it and those after it in the same value. Directives with a value, such as "unavailable_after:
// date", are ignored.
func ParseRobotsTag(values []string, agent string) RobotsTag {
	r := robots{agent: agent}
	for _, value := range values {
		to := &r.all
		for directive := range strings.SplitSeq(value, ",") {
			if name, rest, ok := strings.Cut(directive, ":"); ok {
				if name = strings.TrimSpace(name); hasValue(name) {
					continue
				}
				to, directive = r.addressee(name), rest
			}
			if to != nil {
				to.add(directive)
			}
		}
	}
	return r.tag()
}

// hasValue reports whether the text before a colon is a directive with a value, or part of a date, and not
// the name of a crawler.
func hasValue(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return name == "" || strings.ContainsAny(name, " \t")
}
