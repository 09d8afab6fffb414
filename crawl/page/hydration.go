package page

import (
	"bytes"
	"strings"
)

// A hydration collects the signs that a framework sent a page from its server without its content, which
// scripts then fetch: a marker of the framework, and no content where content belongs. Navigation, headers and
// footers do not count; they are often complete. Neither do links back, to the pages above this one. Another link in
// the content settles it, so that on most pages there is little to do.
type hydration struct {
	at      string // the page's path
	marked  bool   // a framework marks pages that its scripts continue
	refused bool   // its server left a part of the page to the scripts
	roots   int    // number of containers examined for a marker

	linked  bool // there is a link outside of navigation, headers and footers, as the others, and not back
	text    int  // in bytes, with white space collapsed; counted up to shellText
	content int  // number of things of any kind
	control bool

	list   []byte // name of the last list, table or main element that began
	before int    // content before it
	empty  bool   // there is such an element without content
}

// missing reports whether the content of a page is likely missing.
func (h *hydration) missing() bool {
	if h.refused {
		return true
	}
	return h.marked && !h.linked && (h.empty || h.text < shellText && !h.control)
}

// script looks for a marker in a script: Next, Nuxt and SvelteKit name their data.
func (h *hydration) script(s *scanner) {
	if h.marked || h.linked {
		return
	}
	for name, value := range s.eachAttribute() {
		if is(name, "id") {
			h.marked = string(value) == "__NEXT_DATA__" || string(value) == "__NUXT_DATA__"
		}
	}
	for raw := s.raw; !h.marked; {
		before, after, found := bytes.Cut(raw, []byte("__"))
		if !found {
			return
		}
		after, kit := bytes.CutPrefix(after, []byte("sveltekit_"))
		h.marked = bytes.HasPrefix(after, []byte("next_f")) && bytes.HasSuffix(before, []byte("self.")) ||
			kit && bytes.HasPrefix(bytes.TrimLeft(after, "0123456789abcdefghijklmnopqrstuvwxyz"), []byte(" = {"))
		raw = after
	}
}

// element processes the start tag of an element outside of navigation, headers and footers.
func (h *hydration) element(s *scanner, t tag) {
	switch name := s.name; {
	case t == tagImg || t == tagRaw || t == tagTextarea || t == tagForeign:
		h.content++
	case t == tagDiv || t == tagSection || t == tagMain:
		h.root(s)
		if t == tagMain {
			h.open(name)
		}
	case t == tagBreak && (is(name, "ul") || is(name, "ol") || is(name, "table")):
		h.open(name)
	case t != tagOther:
	case is(name, "astro-island"):
		h.marked = true
	case is(name, "input") || is(name, "select"):
		h.content++
		h.control = true
	case is(name, "video") || is(name, "audio") || is(name, "canvas") || is(name, "object") || is(name, "embed"):
		h.content++
	}
}

// link processes a link.
func (h *hydration) link(target []byte) {
	if !h.linked && !isNowhere(target) && !h.isBack(target) {
		h.linked = true
	}
}

// isBack reports whether a link leads to a page above this one or to itself, as it is usually written: as a path from
// the root, or as dots.
func (h *hydration) isBack(target []byte) bool {
	target = bytes.TrimSpace(target)
	if i := bytes.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	if bytes.HasPrefix(target, []byte("..")) && len(bytes.Trim(target, "./")) == 0 {
		return true
	}
	above := string(bytes.TrimSuffix(target, []byte("/"))) + "/"
	return len(target) > 0 && target[0] == '/' && strings.HasPrefix(strings.TrimSuffix(h.at, "/")+"/", above)
}

// root looks for a marker on one of the first containers: Vue's server names the one it filled.
func (h *hydration) root(s *scanner) {
	const most = 8
	if h.roots++; h.roots > most || s.attrs.all == 0 {
		return
	}
	for name := range s.eachAttribute() {
		h.marked = h.marked || is(name, "data-server-rendered")
	}
}

// template looks for the mark of React's server at a part that it left to the browser.
func (h *hydration) template(s *scanner) {
	for name := range s.eachAttribute() {
		h.refused = h.refused || is(name, "data-dgst")
	}
}

func (h *hydration) open(name []byte) { h.list, h.before = name, h.content }

// end processes an end tag. The head of a table is no content of it.
func (h *hydration) end(name []byte) {
	if is(name, "thead") {
		h.before = h.content
	}
	if h.list != nil && bytes.EqualFold(name, h.list) {
		h.empty = h.empty || h.content == h.before
		h.list = nil
	}
}

// addText adds a piece of text.
func (h *hydration) addText(raw []byte) {
	const nbsp = "&nbsp;"
	size, before, seen := 0, true, false
	for i := 0; i < len(raw) && !(seen && h.text+size >= shellText); i++ {
		space := isSpace(raw[i])
		if raw[i] == '&' && bytes.HasPrefix(raw[i:], []byte(nbsp)) {
			space, i = true, i+len(nbsp)-1
		}
		if !space || !before {
			size++
		}
		before, seen = space, seen || !space
	}
	h.text += size
	if seen {
		h.content++
	}
}

// is reports whether a name is the given one, ignoring case.
func is(name []byte, other string) bool {
	return len(name) == len(other) && bytes.EqualFold(name, []byte(other))
}
