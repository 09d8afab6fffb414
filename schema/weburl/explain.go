package weburl

import "strings"

// A Step is one step of canonicalization and the URL after it.
type Step struct{ Name, Result string }

// Explain canonicalizes an absolute URL and lists the steps: the parsed URL, then each step that
// changed something, in order. The last result is the Norm. For a URL whose Norm is too long, it
// returns the steps together with the error.
func (r *Rules) Explain(raw string) ([]Step, URL, error) {
	u, failure := r.Parse(raw)
	d, err := newDraft(raw)
	if err != nil {
		return nil, u, failure
	}
	steps := []Step{{"parse", d.String()}}
	note := func(name string) {
		if s := d.String(); s != steps[len(steps)-1].Result {
			steps = append(steps, Step{name, s})
		}
	}
	d.user = ""
	note("drop user")
	d.toHTTPS()
	note("https")
	d.host, _ = parseHost(d.host)
	note("drop trailing dot")
	d.host = d.host[wwwLength(d.host):]
	note("drop www")
	d.path = string(appendNormPath(nil, d.path))
	note("path")
	d.fragment = ""
	note("drop fragment")
	d.query = string(r.strip([]byte(d.query), 0))
	note("strip-params")
	d.sortQuery()
	note("sort parameters")
	d.dropEmptyQuery()
	note("drop empty query")
	return steps, u, failure
}

// A draft is a URL between two steps. Its parts include their delimiters: "user@", ":port", "?query",
// "#fragment".
type draft struct{ scheme, user, host, port, path, query, fragment string }

func (d *draft) String() string {
	return d.scheme + "://" + d.user + d.host + d.port + d.path + d.query + d.fragment
}

// newDraft parses raw as Parse does, but keeps the parts that the standard keeps.
func newDraft(raw string) (*draft, error) {
	if _, _, err := resolve(nil, raw, nil); err != nil {
		return nil, err
	}
	ref, err := cut(raw, nil)
	if err != nil {
		return nil, err
	}
	d := &draft{scheme: "https", path: string(appendTarget(nil, ref, nil))}
	if ref.http {
		d.scheme = "http"
	}
	at := strings.LastIndexByte(ref.authority, '@') + 1
	d.user = string(appendEscaped(nil, ref.authority[:at], pathEscapes))
	host, port := cutPort(ref.authority[at:])
	if d.host, err = parseHostDotted(host); err != nil {
		return nil, err
	}
	if port, err = parsePort(port); port != "" && port != defaultPort(ref.http) {
		d.port = ":" + port
	}
	if ref.hasQuery {
		d.query = "?" + string(appendEscaped(nil, ref.query, queryEscapes))
	}
	if ref.fragment != "" {
		d.fragment = "#" + string(appendEscaped(nil, ref.fragment, queryEscapes))
	}
	return d, err
}

func defaultPort(http bool) string {
	if http {
		return "80"
	}
	return "443"
}

func (d *draft) toHTTPS() {
	d.scheme = "https"
	if d.port == ":443" {
		d.port = ""
	}
}

func (d *draft) sortQuery() {
	if sorted := appendSortedQuery(nil, strings.TrimPrefix(d.query, "?")); len(sorted) > 0 {
		d.query = string(sorted)
	}
}

func (d *draft) dropEmptyQuery() {
	if strings.Trim(d.query, "?&") == "" {
		d.query = ""
	}
}
