// Package missing knows how hosts answer requests for pages that do not exist. Many answer with a status of success, or
// with a redirect, so only a comparison with such an answer tells that a page does not exist.
package missing

import (
	"crypto/sha256"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema"
)

// mark is what replaces the address of a page.
const mark = "\x00"

// pathLetters is the number of letters in a path that does not exist.
const pathLetters = 20

// Path returns a path that does not exist on a host. It is the same in every run.
func Path(host string) string {
	sum := sha256.Sum256([]byte(host))
	b := []byte{'/'}
	for _, c := range sum[:pathLetters] {
		b = append(b, 'a'+c%26)
	}
	return string(b)
}

// A Mask replaces the address of one page, so that what differs between two pages only by their addresses is equal.
type Mask struct {
	paths []string // beginning with a slash, plain or escaped
	words []string // without it, to be replaced as whole words
}

// NewMask returns the mask of the page with a path and query.
func NewMask(pathQuery string) Mask {
	var m Mask
	add := func(list *[]string, s string) {
		if s = strings.ToLower(s); len(s) > 1 && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	onlyPath, _, _ := strings.Cut(pathQuery, "?")
	plain, err := url.PathUnescape(onlyPath)
	if err != nil {
		plain = onlyPath
	}
	for _, s := range []string{pathQuery, onlyPath, plain} {
		add(&m.paths, s)
		if len(s) > 1 {
			add(&m.paths, url.QueryEscape(s))
		}
	}
	last := path.Base(plain)
	for _, s := range []string{strings.Trim(onlyPath, "/"), strings.Trim(plain, "/"), last,
		strings.TrimSuffix(last, path.Ext(last)), spaced(strings.TrimSuffix(last, path.Ext(last)))} {
		add(&m.words, s)
		add(&m.words, url.QueryEscape(s))
	}
	byLength := func(a, b string) int { return len(b) - len(a) }
	slices.SortStableFunc(m.paths, byLength)
	slices.SortStableFunc(m.words, byLength)
	return m
}

// spaced returns the words that an address is made of.
func spaced(segment string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == '+' {
			return ' '
		}
		return c
	}, segment)
}

// Replace returns a text, which is in lower case, with a mark in place of the address.
func (m Mask) Replace(text string) string {
	for _, s := range m.paths {
		text = strings.ReplaceAll(text, s, mark)
	}
	for _, s := range m.words {
		text = replaceWords(text, s)
	}
	return text
}

// replaceWords replaces a text where it does not begin or end within a word.
func replaceWords(text, old string) string {
	if !strings.Contains(text, old) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, old)
		if i < 0 {
			return b.String() + text
		}
		end := i + len(old)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if isWord(before) || isWord(after) {
			b.WriteString(text[:end])
		} else {
			b.WriteString(text[:i] + mark)
		}
		text = text[end:]
	}
}

func isWord(c rune) bool { return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c)) }

// Target returns the target of a redirect from a page with a mark in place of the page's address.
func Target(target, pathQuery string) string {
	host, rest := target, ""
	if i := strings.Index(target, "://"); i >= 0 {
		if j := strings.IndexAny(target[i+3:], "/?"); j >= 0 {
			host, rest = target[:i+3+j], target[i+3+j:]
		}
	}
	return schema.Clean(host+strings.ReplaceAll(NewMask(pathQuery).Replace(strings.ToLower(rest)), mark, "*"), maxTarget)
}

// maxTarget is the largest length of a target, in bytes.
const maxTarget = 2 << 10
