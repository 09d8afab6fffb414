package page

import (
	"bytes"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// What a page may hold at most to be a shell. Text is counted in bytes of UTF-8
// without white space.
const (
	shellLinks   = 3
	shellText    = 400
	shellShare   = 5   // of its size: one part in this many
	askingText   = 150 // where nothing but a <noscript> speaks for it
	shellTargets = 16  // links of a page that is looked at, those in <noscript> included
	shellScripts = 32
	noticeText   = 80
)

// A shellReader reads a page once more and tells whether it is the shell of an
// application: little text for its size, few links, and signs that scripts make the
// rest. It stops as soon as the page is seen to be none, and decides by the page alone.
//
// What stands in <noscript> is not counted, as nobody with scripts sees it. A page with
// controls or frames, or with a refresh that leads on, can be used as it is.
type shellReader struct {
	scan *scanner
	base *weburl.Base
	site string // of the page

	text   int
	notice []byte // the first of the text
	links  int
	images int // and what else is shown without being text
	static bool

	bundle, own bool // there are scripts that can build a page; some of them from the page's site
	scripts     int  // whose site was looked at
	noscript    bool // inside of one
	asks        []byte

	mount         mount
	empty, filled bool // a mount element without content, and one with it, were met
}

// shellOf reads a page with scan. It returns its signs if it likely shows nothing without
// its scripts, else 0; self is its Norm.
func shellOf(scan *scanner, text []byte, base *weburl.Base, self string) schema.Shell {
	r := shellReader{scan: scan, base: base, site: weburl.Site(weburl.Host(self))}
	scan.reset(text)
	scan.keepText = true
	for !r.static && r.links <= shellLinks && r.text <= shellText {
		switch scan.next() {
		case tokenStart:
			r.start()
		case tokenEnd:
			r.end()
		case tokenText:
			r.addText(scan.text)
		case tokenEOF:
			r.closeMount()
			return r.verdict(len(text))
		}
	}
	return 0
}

// verdict weighs what was met of a page of a size.
func (r *shellReader) verdict(size int) schema.Shell {
	if !r.bundle || r.text*shellShare > size {
		return 0
	}
	signs := schema.ShellBundle
	if r.empty {
		signs |= schema.ShellMount
	}
	if r.own && r.links+r.images == 0 && isNotice(r.notice) && r.text <= noticeText {
		signs |= schema.ShellBlank
	}
	alone := signs == schema.ShellBundle
	if bytes.Contains(bytes.ToLower(r.asks), []byte("javascript")) && (!alone || !r.filled && r.text <= askingText) {
		return signs | schema.ShellAsks
	}
	if alone {
		return 0
	}
	return signs
}

func (r *shellReader) start() {
	switch t := r.scan.tag; {
	case t == tagMeta:
		r.meta()
	case t == tagScript:
		r.script()
	case r.noscript || r.scan.foreign.drawing():
	case t == tagA || t == tagArea:
		r.link()
	case t == tagImg:
		r.images++
		r.mount.images++
	case t == tagFrame || t == tagTextarea:
		r.static = true
	case t == tagOther || t == tagRaw || t.nests():
		r.element(string(lowerName(r.scan.name)))
	}
}

// element looks at the start tag of an element that the extraction makes nothing of.
func (r *shellReader) element(name string) {
	switch name {
	case "noscript":
		r.noscript = true
	case "input", "select":
		r.static = r.static || !r.hidden()
	case "iframe", "video", "audio", "object", "embed", "canvas":
		r.images++
	}
	if name == r.mount.tag {
		r.mount.depth++
	}
	if r.mount.tag == "" && r.isMount(name) {
		r.mount = mount{tag: name}
	}
}

func (r *shellReader) end() {
	name := string(lowerName(r.scan.name))
	if name == "noscript" {
		r.noscript = false
	}
	if name != r.mount.tag {
		return
	}
	if r.mount.depth--; r.mount.depth < 0 {
		r.closeMount()
	}
}

func (r *shellReader) closeMount() {
	if r.mount.tag == "" {
		return
	}
	if r.mount.isEmpty() {
		r.empty = true
	} else {
		r.filled = true
	}
	r.mount = mount{}
}

func (r *shellReader) addText(raw []byte) {
	if r.scan.foreign.drawing() {
		return
	}
	text := visible(unescapeText(raw, 8<<10))
	if r.noscript {
		r.asks = append(r.asks, text[:min(len(text), 2*shellText)]...)
		r.asks = r.asks[:min(len(r.asks), 16*shellText)]
		return
	}
	r.text += len(text)
	r.notice = append(r.notice, text[:min(len(text), noticeText-min(len(r.notice), noticeText))]...)
	r.mount.add(text)
}

// link counts a link to another page.
func (r *shellReader) link() {
	href, _ := r.scan.attrs.get(attrHref)
	href = bytes.TrimSpace(href)
	if len(href) > 0 && href[0] != '#' && !hasPrefixFold(href, "javascript:") {
		r.links++
		r.mount.links++
	}
}

func (r *shellReader) meta() {
	equiv, _ := r.scan.attrs.get(attrHTTPEquiv)
	content, _ := r.scan.attrs.get(attrContent)
	if means(equiv, "refresh") && refreshTarget(attributeValue(string(content))) != "" {
		r.static = true
	}
}

// script looks for what can build a page: a file, a module, or code that loads some.
func (r *shellReader) script() {
	var src, kind []byte
	for name, value := range r.scan.eachAttribute() {
		switch {
		case bytes.EqualFold(name, []byte("src")):
			src = bytes.TrimSpace(value)
		case bytes.EqualFold(name, []byte("type")):
			kind = bytes.TrimSpace(value)
		}
	}
	switch module := means(kind, "module"); {
	case len(kind) > 0 && !module && !hasSuffixFold(kind, "script"): // data, or a template
	case len(src) > 0:
		r.bundle = true
		r.own = r.own || r.isOwn(src)
	case module || bytes.Contains(r.scan.raw, []byte("import(")):
		r.bundle, r.own = true, true
	case bytes.Contains(r.scan.raw, []byte("createElement(")): // of another script
		r.bundle = true
	}
}

// isOwn reports whether a script lies at the site of its page: scripts from elsewhere
// are as likely to measure. Only the first scripts are looked at.
func (r *shellReader) isOwn(src []byte) bool {
	if r.scripts++; r.scripts > shellScripts {
		return false
	}
	u, err := r.base.Parse(attributeValue(string(src)))
	return err == nil && weburl.Site(u.Host()) == r.site
}

// hidden reports whether nobody sees a control.
func (r *shellReader) hidden() bool {
	for name, value := range r.scan.eachAttribute() {
		switch string(lowerName(name)) {
		case "hidden":
			return true
		case "type":
			if means(value, "hidden") {
				return true
			}
		case "style":
			if bytes.Contains(value, []byte("display:none")) || bytes.Contains(value, []byte("display: none")) {
				return true
			}
		}
	}
	return false
}
