// Package missing knows how hosts answer requests for pages that do not exist. Many answer with a status of success, or
// with a redirect, so only a comparison with such an answer tells that a page does not exist.
package missing

import (
	"bytes"
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

// leastPath and leastWord are the smallest lengths of what is replaced in a page, in bytes. A shorter word is likely to
// be one of the text, as in "it's", and not the name of the page.
const (
	leastPath = 2
	leastWord = 4
)

// A Mask replaces the address of one page, so that what differs between two pages only by their addresses is equal.
type Mask struct {
	paths []string // beginning with a slash, plain or escaped, to be replaced as whole addresses
	words []string // without it, to be replaced as whole words
}

// NewMask returns the mask of the page with a path and query.
func NewMask(pathQuery string) Mask { return newMask(pathQuery, leastWord) }

// newMask returns the mask of a page that replaces words of at least that length.
func newMask(pathQuery string, leastWord int) Mask {
	var m Mask
	add := func(list *[]string, s string, least int) {
		if s = strings.ToLower(s); len(s) >= least && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	onlyPath, _, _ := strings.Cut(pathQuery, "?")
	plain, err := url.PathUnescape(onlyPath)
	if err != nil {
		plain = onlyPath
	}
	for _, s := range []string{pathQuery, onlyPath, plain} {
		add(&m.paths, s, leastPath)
		if len(s) >= leastPath {
			add(&m.paths, url.QueryEscape(s), leastPath)
		}
	}
	last := path.Base(plain)
	for _, s := range []string{strings.Trim(onlyPath, "/"), strings.Trim(plain, "/"), last,
		strings.TrimSuffix(last, path.Ext(last)), spaced(strings.TrimSuffix(last, path.Ext(last)))} {
		add(&m.words, s, leastWord)
		add(&m.words, url.QueryEscape(s), leastWord)
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

// Replace returns a text, which is in lower case, with a mark in place of the address, or the text itself if the
// address is not in it.
func (m Mask) Replace(text []byte) []byte {
	var absent []string // none with a mark, so that they remain absent
	lacks := func(s string) bool {
		if slices.ContainsFunc(absent, func(part string) bool { return strings.Contains(s, part) }) {
			return true
		}
		found := bytes.Contains(text, []byte(s))
		if !found && !strings.Contains(s, mark) {
			absent = append(absent, s)
		}
		return !found
	}
	for _, s := range slices.Backward(m.words) { // the shortest first: what it lacks, longer ones lack as well
		lacks(s)
	}
	for _, s := range m.paths {
		if lacks(s) {
			continue
		}
		text = replaceWhole(text, s, func(before, after []byte) bool { return !longer(after) })
	}
	for _, s := range m.words {
		if lacks(s) {
			continue
		}
		text = replaceWhole(text, s, func(before, after []byte) bool {
			c, _ := utf8.DecodeLastRune(before)
			return !isWord(c) && !longer(after)
		})
	}
	return text
}

// longer reports whether the text after an address makes it a longer address or word: "/s" is no part of "/static", and
// not "/s/logo.png".
func longer(after []byte) bool {
	c, size := utf8.DecodeRune(after)
	if c == '/' {
		c, _ = utf8.DecodeRune(after[size:])
	}
	return isWord(c)
}

// replaceWhole replaces a text where whole holds for what is before and after it.
func replaceWhole(text []byte, old string, whole func(before, after []byte) bool) []byte {
	var replaced []byte
	done := 0 // length of the part of text that is in replaced
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(old))
		if i < 0 {
			break
		}
		begin, end := at+i, at+i+len(old)
		if whole(text[:begin], text[end:]) {
			replaced = append(append(replaced, text[done:begin]...), mark...)
			done = end
		}
		at = end
	}
	if done == 0 {
		return text
	}
	return append(replaced, text[done:]...)
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
	rest = string(newMask(pathQuery, 1).Replace([]byte(strings.ToLower(rest))))
	return schema.Clean(host+strings.ReplaceAll(rest, mark, "*"), maxTarget)
}

// maxTarget is the largest length of a target, in bytes.
const maxTarget = 2 << 10
