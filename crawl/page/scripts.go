package page

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Scripts returns the addresses of the scripts that an HTML page fetched from base names, each once, in order, and
// at most most: in <script> and in the <link> elements by which browsers load scripts early. It leaves out those that
// a browser with modules and scripting does not load, and addresses that it may spell in another way: those with
// a query or with percent signs, and those that are not https.
func (e *Extractor) Scripts(body []byte, contentType string, base *weburl.Base, most int) []string {
	encoding := encodingOf(body, contentType)
	r := scriptReader{scan: &e.scan, base: base, seen: map[string]bool{}}
	r.scan.reset(encoding.Decode(body))
	for token := r.scan.next(); token != tokenEOF && len(r.found) < most; token = r.scan.next() {
		name := string(lowerName(r.scan.name))
		switch inert := name == "noscript" || name == "template"; {
		case token == tokenStart && inert:
			r.inert++
		case token == tokenEnd && inert:
			r.inert = max(0, r.inert-1)
		case token == tokenStart && r.inert == 0 && !r.scan.foreign.drawing():
			r.start(name)
		}
	}
	r.scan.reset(nil) // releases the body
	return r.found
}

// A scriptReader collects the addresses of scripts.
type scriptReader struct {
	scan  *scanner
	base  *weburl.Base
	based bool // the page has set its base
	inert int  // depth of elements whose content browsers do not load
	found []string
	seen  map[string]bool
}

func (r *scriptReader) start(element string) {
	if element != "script" && element != "link" && element != "base" {
		return
	}
	attributes := map[string]string{}
	for name, value := range r.scan.eachAttribute() {
		if name := string(lowerName(name)); attributes[name] == "" {
			attributes[name] = attributeValue(string(value))
		}
	}
	_, old := attributes["nomodule"]
	rel := strings.Fields(strings.ToLower(attributes["rel"]))
	switch {
	case element == "base":
		if href, ok := attributes["href"]; ok && !r.based {
			r.based = true
			if b, err := r.base.With(href); err == nil {
				r.base = b
			}
		}
	case element == "script" && !old && isScript(attributes["type"]):
		r.add(attributes["src"])
	case element == "link" && (slices.Contains(rel, "modulepreload") ||
		slices.Contains(rel, "preload") && strings.EqualFold(attributes["as"], "script")):
		r.add(attributes["href"])
	}
}

// isScript reports whether browsers execute a script of a type (HTML Standard, "prepare the script element").
func isScript(kind string) bool {
	switch kind = strings.ToLower(strings.TrimSpace(kind)); kind {
	case "", "module", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
		"application/ecmascript":
		return true
	}
	return false
}

func (r *scriptReader) add(ref string) {
	if ref = strings.TrimSpace(ref); ref == "" || strings.ContainsAny(ref, "?%") {
		return
	}
	u, err := r.base.Parse(ref)
	if err == nil && !u.HTTP && !strings.ContainsAny(u.Form, "?%") && !r.seen[u.Form] {
		r.seen[u.Form] = true
		r.found = append(r.found, u.Form)
	}
}
