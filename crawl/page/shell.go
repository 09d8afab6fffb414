package page

import (
	"bytes"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Limits for a shell. Text is counted in bytes of UTF-8 without white space.
const (
	shellLinks   = 3
	shellText    = 400
	shellShare   = 5   // of its size: at most one part in this many
	askingText   = 150 // if a <noscript> is the only evidence
	shellTargets = 16  // links of a page that is checked, including those in <noscript>
	shellScripts = 32
	noticeText   = 80
)

// A shellReader reads a page again and decides whether it is the shell of an application: little text for its
// size, few links, and signs that scripts create the rest. It stops as soon as the page is clearly not a
// shell, and depends only on the page.
//
// The content of <noscript> is not counted, since it is invisible with scripts. A page with controls or
// frames, or with a refresh that leads elsewhere, is usable as it is.
type shellReader struct {
	scan *scanner
	base *weburl.Base
	site string // of the page

	text   int
	notice []byte // the beginning of the text
	links  int
	images int // and other visible content that is not text
	static bool

	bundle, own bool // there are scripts that can build a page; some from the page's own site
	scripts     int  // number of scripts whose site was checked
	noscript    bool // inside a <noscript>
	asks        []byte

	mount         mount
	empty, filled bool // a mount element without content, and one with content, were found
}

// shellOf reads a page with scan. It returns its signs if it likely shows nothing without its scripts, or
// else 0; self is its Norm.
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

// verdict evaluates the signs of a page of the given size.
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

// element processes the start tag of an element that the extraction ignores.
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
	if !isNowhere(href) {
		r.links++
		r.mount.links++
	}
}

// isNowhere reports whether a link leads to no other page.
func isNowhere(href []byte) bool {
	href = bytes.TrimSpace(href)
	return len(href) == 0 || href[0] == '#' || hasPrefixFold(href, "javascript:")
}

func (r *shellReader) meta() {
	equiv, _ := r.scan.attrs.get(attrHTTPEquiv)
	content, _ := r.scan.attrs.get(attrContent)
	if means(equiv, "refresh") && refreshTarget(attributeValue(string(content))) != "" {
		r.static = true
	}
}

// script looks for scripts that can build a page: a file, a module, or code that loads some.
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
	case bytes.Contains(r.scan.raw, []byte("createElement(")): // creates another script
		r.bundle = true
	}
}

// isOwn reports whether a script is from the site of its page: scripts from elsewhere are as likely to be
// analytics. Only the first scripts are checked.
func (r *shellReader) isOwn(src []byte) bool {
	if r.scripts++; r.scripts > shellScripts {
		return false
	}
	u, err := r.base.Parse(attributeValue(string(src)))
	return err == nil && weburl.Site(u.Host()) == r.site
}

// hidden reports whether a control is invisible.
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
