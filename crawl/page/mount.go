package page

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mount is an open element whose name says that an application shows itself in it,
// and what was met inside.
type mount struct {
	tag    string // name of the element; empty: none is open
	depth  int    // elements of that name that are open inside
	text   []byte // the first of it
	links  int
	images int
}

// add takes a piece of visible text.
func (m *mount) add(text []byte) {
	if m.tag != "" {
		m.text = append(m.text, text[:min(len(text), noticeText+1-min(len(m.text), noticeText+1))]...)
	}
}

// isEmpty reports whether there is nothing in it but what stands there for the time being.
func (m *mount) isEmpty() bool {
	return m.links == 0 && m.images <= 1 && len(m.text) <= noticeText && isNotice(m.text)
}

// isMount reports whether applications show themselves in the element whose start tag was read.
func (r *shellReader) isMount(name string) bool {
	if strings.ContainsRune(name, '-') && isMountName(name) {
		return true
	}
	for attr, value := range r.scan.eachAttribute() {
		switch string(lowerName(attr)) {
		case "id":
			if len(value) <= 64 && isMountName(string(value)) {
				return true
			}
		case "ng-view", "data-ng-view", "ui-view", "data-ui-view", "v-cloak":
			return true
		}
	}
	return false
}

// isMountName reports whether a name in one of the usual spellings (app-root, reactRoot,
// __next, q_app) is one that such elements have: all of its words are, or its last one.
func isMountName(name string) bool {
	if strings.EqualFold(name, "fb-root") { // holds what a social network adds
		return false
	}
	all, some, last := true, false, false
	for word := range words(name) {
		word = strings.ToLower(word)
		some = some || isMountWord(word)
		all = all && (isMountWord(word) || isMountPart(word))
		last = word == "app" || word == "root" || word == "mount" || word == "island" || word == "outlet"
	}
	return last || all && some
}

// words yields the words of an identifier, which capital letters and what is no letter
// part.
func words(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, wasUpper := 0, true
		for i, c := range name {
			isWord, isUpper := unicode.IsLetter(c) || unicode.IsDigit(c), unicode.IsUpper(c)
			if (!isWord || isUpper && !wasUpper) && from < i && !yield(name[from:i]) {
				return
			}
			if !isWord {
				from = i + utf8.RuneLen(c)
			} else if isUpper && !wasUpper {
				from = i
			}
			wasUpper = isUpper
		}
		if from < len(name) {
			yield(name[from:])
		}
	}
}

func isMountWord(word string) bool {
	switch word {
	case "app", "application", "root", "approot", "reactroot", "mount", "outlet", "island", "spa",
		"react", "vue", "angular", "svelte", "elm", "ember", "next", "nuxt", "gatsby", "docusaurus",
		"redoc", "swagger":
		return true
	}
	return false
}

// isMountPart reports the words that stand beside those.
func isMountPart(word string) bool {
	switch word {
	case "q", "my", "js", "ui", "el", "main", "web", "site", "page", "client", "shell", "host", "node", "point",
		"view", "content", "container", "wrapper":
		return true
	}
	return false
}

// isNotice reports whether text, without white space, says no more than that something
// will come.
func isNotice(text []byte) bool {
	if len(bytes.Trim(text, ".")) == 0 || string(text) == "…" {
		return true
	}
	text = bytes.ToLower(text)
	for _, word := range [...]string{"loading", "wait", "initiali", "starting", "laden", "lädt", "chargement",
		"cargando", "carregando", "caricamento", "загрузка", "yükleniyor", "ładowanie", "加载", "載入",
		"载入",
		"読み込み", "로딩"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// visible returns the text without white space, and without what a script would fill in:
// {{ name }}.
func visible(text []byte) []byte {
	shown := make([]byte, 0, min(len(text), shellText))
	for len(text) > 0 {
		if bytes.HasPrefix(text, []byte("{{")) {
			if _, after, ok := bytes.Cut(text, []byte("}}")); ok {
				text = after
				continue
			}
		}
		c, n := utf8.DecodeRune(text)
		if !unicode.IsSpace(c) {
			shown = append(shown, text[:n]...)
		}
		text = text[n:]
	}
	return shown
}

// lowerName is a name in lower case, of which no known one is longer than what is returned.
func lowerName(name []byte) []byte {
	return lower(nil, name[:min(len(name), 64)])
}

func hasPrefixFold(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && bytes.EqualFold(s[:len(prefix)], []byte(prefix))
}

func hasSuffixFold(s []byte, suffix string) bool {
	return len(s) >= len(suffix) && bytes.EqualFold(s[len(s)-len(suffix):], []byte(suffix))
}
