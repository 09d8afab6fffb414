package page

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mount is an open element whose name suggests that an application renders into it, with its content so
// far.
type mount struct {
	tag    string // name of the element; empty: none
	depth  int    // open elements of that name inside
	text   []byte // its beginning
	links  int
	images int
}

// add adds a piece of visible text.
func (m *mount) add(text []byte) {
	if m.tag != "" {
		m.text = append(m.text, text[:min(len(text), noticeText+1-min(len(m.text), noticeText+1))]...)
	}
}

// isEmpty reports whether the element contains at most a placeholder.
func (m *mount) isEmpty() bool {
	return m.links == 0 && m.images <= 1 && len(m.text) <= noticeText && isNotice(m.text)
}

// isMount reports whether applications typically render into the element of the last start tag.
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

// isMountName reports whether a name in a usual spelling (app-root, reactRoot, __next, q_app) is typical of
// such elements: all of its words are, or its last one.
func isMountName(name string) bool {
	if strings.EqualFold(name, "fb-root") { // a container for a social network's own elements
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

// words yields the words of an identifier, separated by capital letters and by characters that are not
// letters or digits.
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

// isMountPart reports words that occur together with those.
func isMountPart(word string) bool {
	switch word {
	case "q", "my", "js", "ui", "el", "main", "web", "site", "page", "client", "shell", "host", "node", "point",
		"view", "content", "container", "wrapper":
		return true
	}
	return false
}

// isNotice reports whether a text without white space says no more than that content will follow.
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

// visible returns the text without white space and template placeholders such as {{ name }}.
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

// lowerName returns a name in lower case, cut to more than the longest known name.
func lowerName(name []byte) []byte {
	return lower(nil, name[:min(len(name), 64)])
}

func hasPrefixFold(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && bytes.EqualFold(s[:len(prefix)], []byte(prefix))
}

func hasSuffixFold(s []byte, suffix string) bool {
	return len(s) >= len(suffix) && bytes.EqualFold(s[len(s)-len(suffix):], []byte(suffix))
}
