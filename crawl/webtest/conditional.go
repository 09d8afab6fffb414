package webtest

import (
	"net/http"
	"strings"
)

// notModified decides a conditional request as RFC 9110, 13.2.2 orders it: when
// there is an If-None-Match, If-Modified-Since is not looked at.
func notModified(request, response http.Header) bool {
	if wanted := request.Values("If-None-Match"); len(wanted) > 0 {
		return matchesAny(strings.Join(wanted, ","), response.Get("Etag"))
	}
	since, err := http.ParseTime(request.Get("If-Modified-Since"))
	if err != nil {
		return false
	}
	modified, err := http.ParseTime(response.Get("Last-Modified"))
	return err == nil && !modified.After(since)
}

// matchesAny compares weakly: W/ does not matter.
func matchesAny(list, tag string) bool {
	if strings.TrimSpace(list) == "*" {
		return true
	}
	tag = strings.TrimPrefix(tag, "W/")
	if tag == "" {
		return false
	}
	for list != "" {
		var one string
		if one, list = nextTag(list); one == tag {
			return true
		}
	}
	return false
}

// nextTag cuts the first quoted tag off the list; commas may stand inside quotes.
func nextTag(list string) (tag, rest string) {
	_, list, ok := strings.Cut(list, `"`)
	if !ok {
		return "", ""
	}
	value, rest, ok := strings.Cut(list, `"`)
	if !ok {
		return "", ""
	}
	return `"` + value + `"`, rest
}
