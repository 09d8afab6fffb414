package page

import (
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"
)

// A RobotsTag holds a page's directives for crawlers. All of them restrict, so several add up: one addressed to
// everybody applies to a crawler that others name, too.
type RobotsTag struct{ NoIndex, NoFollow, NoArchive, NoSnippet bool }

// And returns the union of two tags.
func (t RobotsTag) And(u RobotsTag) RobotsTag {
	return RobotsTag{
		t.NoIndex || u.NoIndex, t.NoFollow || u.NoFollow, t.NoArchive || u.NoArchive, t.NoSnippet || u.NoSnippet,
	}
}

// maxAgent is the longest name considered, in bytes.
const maxAgent = 1024

// robots gathers the directives that are addressed to everybody or to the agent.
type robots struct {
	agent string
	tag   RobotsTag
}

// meta reads a <meta>, given its name and content as written.
func (r *robots) meta(name, content []byte) {
	if len(name) > maxAgent || !r.addressed(strings.TrimSpace(attributeValue(string(name))), "robots") {
		return
	}
	for directive := range strings.SplitSeq(attributeValue(string(content)), ",") {
		r.tag.add(directive)
	}
}

// addressed reports whether directives for name apply, where everybody is the name of all crawlers.
func (r *robots) addressed(name, everybody string) bool {
	return strings.EqualFold(name, everybody) || r.agent != "" && strings.EqualFold(name, r.agent)
}

func (t *RobotsTag) add(directive string) {
	switch strings.ToLower(strings.Join(strings.Fields(directive), "")) {
	case "noindex":
		t.NoIndex = true
	case "nofollow":
		t.NoFollow = true
	case "noarchive":
		t.NoArchive = true
	case "nosnippet", "max-snippet:0":
		t.NoSnippet = true
	case "none":
		t.NoIndex, t.NoFollow = true, true
	}
}

// HeaderRobotsTag returns the directives for agent in the header fields X-Robots-Tag and Robots-Tag of a response.
func HeaderRobotsTag(header http.Header, agent string) RobotsTag {
	r := robots{agent: agent}
	for _, value := range header.Values("X-Robots-Tag") {
		r.field(value)
	}
	for _, value := range header.Values("Robots-Tag") {
		if !r.structured(value) {
			r.field(value)
		}
	}
	return r.tag
}

// field reads an X-Robots-Tag. "name:" before a directive addresses it and those after it in the same value.
// Directives with a value, such as "unavailable_after: date", are ignored.
func (r *robots) field(value string) {
	applies := true
	for directive := range strings.SplitSeq(value, ",") {
		name, rest, found := strings.Cut(directive, ":")
		name = strings.TrimSpace(name)
		switch {
		case !found || strings.EqualFold(name, "max-snippet"):
		case hasValue(name):
			continue
		default:
			applies, directive = r.addressed(name, "robots"), rest
		}
		if applies {
			r.tag.add(directive)
		}
	}
}

// structured reads a Robots-Tag: a list (RFC 9651 section 3.1) of product tokens, "*" for everybody, whose
// parameters are the directives. A member such as "noindex" is one for everybody, as in an X-Robots-Tag. It
// reports whether the value is such a list.
func (r *robots) structured(value string) bool {
	list, err := httpsfv.UnmarshalList([]string{strings.ToLower(value)}) // names of parameters are in lower case
	if err != nil {
		return false
	}
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		if !ok {
			continue
		}
		var name string
		switch v := item.Value.(type) {
		case httpsfv.Token:
			name = string(v)
		case string:
			name = v
		}
		names := item.Params.Names()
		if len(names) == 0 {
			r.tag.add(name)
		}
		if !r.addressed(name, "*") {
			continue
		}
		for _, directive := range names {
			switch value, _ := item.Params.Get(directive); value {
			case true:
				r.tag.add(directive)
			case int64(0):
				r.tag.add(directive + ":0")
			}
		}
	}
	return true
}

// hasValue reports whether the text before a colon is a directive with a value, or part of a date, and not
// the name of a crawler.
func hasValue(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-image-preview", "max-video-preview":
		return true
	}
	return name == "" || strings.ContainsAny(name, " \t")
}
