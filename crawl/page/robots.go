package page

import "strings"

// A RobotsTag is what a page says about itself to crawlers.
type RobotsTag struct{ NoIndex, NoFollow, NoArchive bool }

// maxAgent is the longest name that is looked at, in bytes.
const maxAgent = 1024

// robots joins directives by whom they address. Those to the agent itself stand
// instead of those to everybody, however mild they are.
type robots struct {
	agent     string
	all, own  RobotsTag
	addressed bool // there are directives to the agent
}

func (r *robots) tag() RobotsTag {
	if r.addressed {
		return r.own
	}
	return r.all
}

// meta reads a <meta> by its name and content, as they are written.
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

// addressee is where directives to name belong, nil if they are for others.
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

// ParseRobotsTag reads the values of the X-Robots-Tag headers of a response as
// agent has to. "name:" before a directive addresses it and those after it in
// the same value; directives with a value of their own, such as
// "unavailable_after: date", say nothing to a crawler of links.
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

// hasValue reports whether what stands before a colon is a directive with a
// value, or part of a date, and not the name of a crawler.
func hasValue(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return name == "" || strings.ContainsAny(name, " \t")
}
