package scope

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxLine is the maximum length of a line with a name, in bytes.
const maxLine = 4096

var errUTF16 = errors.New("is UTF-16; save it as UTF-8")

// A LineError reports a line of a list file that does not name a host.
type LineError struct {
	Line int    // from 1
	Text string // the line, cut; safe to display
	Why  string // "is not a host name"
	More int    // further lines with such an error
}

func (e *LineError) Error() string {
	text := fmt.Sprintf("line %d: %s %s", e.Line, e.Text, e.Why)
	switch e.More {
	case 0:
		return text
	case 1:
		return text + "; nor can 1 other line be read"
	}
	return fmt.Sprintf("%s; nor can %d other lines be read", text, e.More)
}

// ParseListFile parses a list of hosts, one or more per line:
//
//	ads.example.net            that name
//	*.example.net              and all names below it; also .example.net and ||example.net^
//	https://example.net/a      the host of a URL; also example.net:8443 and example.net/
//	0.0.0.0 ads.example.net    a hosts file: that name
//
// Lines end with LF, CR or both. Comments begin with "#", "!", ";" or "// ". A section in brackets
// names nothing, and neither do a hosts file's names for the local machine, such as localhost.
//
// A list keeps the crawl away from hosts, so nothing in it is ignored silently. Adblock rules that
// cover less than a host (options, "@@", "##", paths) are skipped and counted. Any other invalid line
// is a [LineError]. If a list names no host, its first skipped line is a [LineError] too.
//
// The patterns are in the order of the file, including duplicates.
func ParseListFile(r io.Reader) (patterns []Pattern, skipped int, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, fmt.Errorf("read list: %w", err)
	}
	if isUTF16(text) {
		return nil, 0, errUTF16
	}
	l := list{text: string(text)}
	l.adblock = adblockLine().MatchString(l.text)
	for n := 1; l.text != ""; n++ {
		l.read(n, l.line())
	}
	if l.named == 0 && l.wrong == nil {
		l.wrong = l.passed
	}
	if l.wrong != nil {
		return nil, 0, l.wrong
	}
	return l.patterns, l.skipped, nil
}

// isUTF16 reports whether a text begins with a UTF-16 byte order mark, or exactly one of its first two
// bytes is NUL.
func isUTF16(text []byte) bool {
	return len(text) >= 2 && (string(text[:2]) == "\xff\xfe" || string(text[:2]) == "\xfe\xff" ||
		(text[0] == 0) != (text[1] == 0))
}

// adblockLine matches a line that occurs only in Adblock lists.
var adblockLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\r\n])\x{feff}?[ \t]*(?:\[adblock|\|\||@@)`)
})

// A list is the state of reading a list line by line.
type list struct {
	text     string // the unread rest
	adblock  bool   // some lines are Adblock rules, so others may be
	patterns []Pattern
	named    int // lines that name hosts, including names of the local machine
	skipped  int
	passed   *LineError // the first skipped line
	wrong    *LineError
}

// line removes the next line from the text.
func (l *list) line() string {
	i := strings.IndexAny(l.text, "\r\n")
	if i < 0 {
		i = len(l.text)
	}
	line, rest := l.text[:i], l.text[i:]
	if strings.HasPrefix(rest, "\r\n") {
		rest = rest[1:]
	}
	l.text = rest[min(1, len(rest)):]
	return line
}

func (l *list) read(n int, line string) {
	if isPlain(line) { // the usual case
		l.patterns, l.named = append(l.patterns, Pattern{base: line}), l.named+1
		return
	}
	line = strings.TrimFunc(line, isUnseen)
	elements := elementRule(line)
	if !elements {
		line = withoutComment(line)
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return
	}
	why := "is not a host name"
	switch patterns, ok := l.hosts(fields); {
	case len(line) > maxLine:
		why = fmt.Sprintf("is longer than %d bytes", maxLine)
	case !utf8.ValidString(line):
		why = "is not in UTF-8"
	case elements, isAdblock(line), !ok && l.adblock && len(fields) == 1 && strings.ContainsAny(line, "/*^=&?|"):
		if l.skipped++; l.passed == nil {
			l.passed = &LineError{Line: n, Text: shown(line), Why: "names no host, and neither does any other line"}
		}
		return
	case ok:
		l.patterns, l.named = append(l.patterns, patterns...), l.named+1
		return
	}
	if l.wrong != nil {
		l.wrong.More++
		return
	}
	l.wrong = &LineError{Line: n, Text: shown(line), Why: why}
}

// hosts returns the hosts in the fields of one line, and whether all fields are understood.
func (l *list) hosts(fields []string) ([]Pattern, bool) {
	if len(fields) == 1 {
		p, ok := l.host(fields[0])
		return []Pattern{p}, ok
	}
	if _, err := netip.ParseAddr(fields[0]); err != nil && fields[0] != "0" {
		return nil, false
	}
	var patterns []Pattern
	for _, name := range fields[1:] {
		plain := isPlain(name) && strings.Contains(name, ".") // so not an address
		if !plain && (!strings.ContainsAny(name, ".:") || isIP(name)) || name == "localhost.localdomain" {
			continue
		}
		p, ok := l.host(name)
		if !ok {
			return nil, false
		}
		patterns = append(patterns, p)
	}
	return patterns, true
}

// host parses one name in any of its spellings.
func (l *list) host(s string) (Pattern, bool) {
	if isPlain(s) {
		return Pattern{base: s}, true
	}
	s = strings.Trim(strings.TrimRight(s, ",;"), `"'`)
	if at, err := netip.ParseAddr(s); err == nil && at.Is6() {
		s = "[" + s + "]"
	} else if _, err := netip.ParsePrefix(s); err == nil {
		return Pattern{}, false // a network
	}
	name, below := strings.CutPrefix(strings.ReplaceAll(s, `\`, "/"), "||")
	if anchored := strings.TrimPrefix(name, "|"); below || anchored != name {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(anchored, "|"), "^*"), "^")
	}
	rest, isURL := strings.CutPrefix(name, "//")
	if scheme, after, ok := strings.Cut(name, "://"); ok && !strings.ContainsAny(scheme, "/.?#") {
		rest, isURL = after, true
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i+1:]
	}
	if l.adblock && path != "" && path != "*" {
		return Pattern{}, false // a rule for some pages of the host only
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 && isURL {
		host = host[i+1:]
	}
	if tail := strings.TrimPrefix(strings.TrimPrefix(host, "*"), "."); len(tail) < len(host) {
		if host[0] == '*' && len(tail) == len(host)-1 {
			return Pattern{}, false // "*name"
		}
		host, below = tail, true
	}
	return hostPattern(host, below)
}

// hostPattern returns the pattern of a host, with or without a port. An address is its own pattern. A
// number that only browsers read as an address is refused.
func hostPattern(host string, below bool) (Pattern, bool) {
	host, _ = weburl.SplitPort(host)
	p, _, err := parsePattern(host)
	if err != nil || p.below {
		return Pattern{}, false
	}
	if isIP(p.base) {
		return p, isIP(host)
	}
	p.below = below
	return p, true
}

// isAdblock reports an Adblock rule that does not apply to a whole host: an exception, a rule for
// elements, or a rule with options.
func isAdblock(line string) bool {
	if strings.HasPrefix(line, "@@") || strings.Contains(line, "#") && elementSigns().MatchString(line) {
		return true
	}
	i := strings.LastIndexByte(line, '$')
	return i >= 0 && !strings.ContainsAny(line, " \t") && !strings.HasPrefix(line, "http")
}

// elementSigns matches the separator between hosts and a selector: "##", "#@#", "#?#", "#$#", "#%#".
var elementSigns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^ \t/]*#[@?$%]{0,3}#[^ \t#=-]`)
})

// elementRule reports whether a line is a rule for elements of all pages, such as "##.banner" or
// "#@#div". Unlike a comment, it has a selector directly after the signs.
func elementRule(line string) bool {
	signs, ok := strings.CutPrefix(line, "#")
	if !ok {
		return false
	}
	at := strings.IndexByte(signs, '#')
	if at < 0 || strings.Trim(signs[:at], "@?$%") != "" {
		return false
	}
	selector := strings.TrimLeft(signs[at:], "#")
	return selector != "" && !strings.ContainsRune(" \t-=", rune(selector[0]))
}

// withoutComment removes a comment, which starts with "#", "!", ";" or "//" at the beginning of the
// line or after a blank. Elsewhere these characters belong to a rule or a URL. A section header is a
// comment, too.
func withoutComment(line string) string {
	if isSection(line) {
		return ""
	}
	for i := range len(line) {
		if i > 0 && line[i-1] != ' ' && line[i-1] != '\t' {
			continue
		}
		if strings.IndexByte("#!;", line[i]) >= 0 || line[i:] == "//" || strings.HasPrefix(line[i:], "// ") {
			return line[:i]
		}
	}
	return line
}

// isSection reports a section header such as "[Adblock Plus 2.0]". Brackets around quotes or host names are
// something else, such as a list in JSON, whose hosts must not be skipped.
func isSection(line string) bool {
	if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") || isIP(line) || strings.ContainsAny(line, `"',`) {
		return false
	}
	for _, word := range strings.Fields(line[1 : len(line)-1]) {
		if last := word[strings.LastIndexByte(word, '.')+1:]; last != word && strings.Trim(last, "0123456789") != "" {
			return false
		}
	}
	return true
}

// isUnseen reports white space, a control character or a character without width.
func isUnseen(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) && c != 0 || unicode.Is(unicode.Cf, c)
}

// shown formats a line for a message.
func shown(line string) string { return fmt.Sprintf("%q", cut(line)) }
