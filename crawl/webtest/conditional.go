package webtest

import (
	"net/http"
	"strings"
)

// notModified evaluates a conditional request in the order of RFC 9110, 13.2.2: if there is an
// If-None-Match, If-Modified-Since is ignored.
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

// matchesAny uses the weak comparison: W/ is ignored.
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

// nextTag cuts the first quoted tag from the list. Quotes may contain commas.
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
