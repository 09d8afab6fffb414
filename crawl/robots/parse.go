package robots

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxSitemapLength   = 2_048
	latin1NoBreakSpace = "\xa0"
	brailleBlank       = 0x2800
	byteOrderMark      = "\ufeff"
)

// Parse parses a robots.txt for the crawler named agent; only the product token counts: "Ripple/1.0 (+url)"
// is "Ripple". The body may be arbitrary and is not retained; only its first [MaxBytes] are read. An empty
// body allows everything, like [AllowAll].
func Parse(body []byte, agent string) *Rules {
	p := parser{agent: token(strings.TrimSpace(agent)), sitemapSeen: map[string]bool{},
		marked: bytes.HasPrefix(body, []byte(byteOrderMark))}
	for line := range lines(text(body)) {
		p.lineNo++
		p.read(line)
	}
	return p.rules()
}

// A group collects the lines for one agent, from all groups of the file that name it.
type group struct {
	named  bool // a User-agent line names it
	open   bool // the current group names it
	lines  []line
	delays delays

	stating bool // like open, where a statement begins the next group as a rule does
	said    []saidLine
}

// A line is one Allow or Disallow line of the file.
type line struct {
	text, value string
	no          int32
	allow       bool
}

type parser struct {
	agent       string
	lineNo      int32
	own, all    group
	marked      bool // the file or a User-agent line begins with a byte order mark; then rules may, too
	ruled       bool // the current group has a rule, so the next User-agent begins another
	stated      bool // the current group has a rule or a statement
	licenses    []saidLine
	sitemaps    []string
	sitemapSeen map[string]bool
}

func (p *parser) read(text string) {
	text, _, _ = strings.Cut(text, "#")
	text = trim(text)
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	marked := strings.HasPrefix(text, byteOrderMark)
	key, value = withoutUnseen(key), trim(value)
	switch name := trimUnseen(key); {
	case strings.EqualFold(name, "sitemap"), strings.EqualFold(name, "site-map"): // accepted by Google's parser, too
		p.sitemap(trimUnseen(value))
	case strings.EqualFold(name, "crawl-delay"):
		p.own.delay(trimUnseen(value))
		p.all.delay(trimUnseen(value))
	case strings.EqualFold(key, "user-agent"):
		p.marked = p.marked || marked
		p.userAgent(withoutUnseen(value))
	case marked && !p.marked:
	case strings.EqualFold(key, "disallow"):
		p.rule(line{text: text, value: value, no: p.lineNo})
	case strings.EqualFold(key, "allow"):
		p.rule(line{text: text, value: value, no: p.lineNo, allow: true})
	default:
		if field, ok := statementField(name); ok {
			p.statement(field, trimUnseen(value))
		}
	}
}

func (p *parser) userAgent(value string) {
	if p.ruled {
		p.ruled, p.own.open, p.all.open = false, false, false
	}
	if p.stated {
		p.stated, p.own.stating, p.all.stating = false, false, false
	}
	if name := token(value); name != "" && strings.EqualFold(name, p.agent) {
		p.own.named, p.own.open, p.own.stating = true, true, true
	}
	if rest, ok := strings.CutPrefix(value, "*"); ok && strings.TrimLeftFunc(rest, isBlank) != rest || value == "*" {
		p.all.named, p.all.open, p.all.stating = true, true, true
	}
}

// rule adds a line to the open groups. An empty value, or one that is not a path, is not a rule, but ends the
// list of agents like any other. A path with invisible characters applies both as written and without them:
// the site may mean either.
func (p *parser) rule(l line) {
	p.ruled, p.stated = true, true
	written, read := l.value, withoutUnseen(l.value)
	for _, l.value = range []string{written, read} {
		if l.value == "" || l.value[0] != '/' && l.value[0] != '*' {
			continue
		}
		for _, g := range []*group{&p.own, &p.all} {
			if g.open {
				g.lines = append(g.lines, l)
			}
		}
		if written == read {
			return
		}
	}
}

func (p *parser) sitemap(value string) {
	if value == "" || len(value) > maxSitemapLength || p.sitemapSeen[value] {
		return
	}
	value = strings.Clone(value) // otherwise the whole body would be retained
	p.sitemapSeen[value] = true
	p.sitemaps = append(p.sitemaps, value)
}

func (p *parser) rules() *Rules {
	r := &Rules{sitemaps: p.sitemaps}
	var g group
	switch {
	case p.own.named:
		r.agent, g = strings.Clone(p.agent), p.own
	case p.all.named:
		r.agent, g = "*", p.all
	}
	r.delay, r.hasDelay = g.delays.longest, g.delays.valid
	r.compile(g.lines)
	r.state(append(g.said, p.licenses...))
	return r
}

// compile copies the lines of the applicable group into one string, each distinct rule once, and sorts the
// rules.
func (r *Rules) compile(lines []line) {
	type identity struct {
		pattern         string
		allow, anchored bool
	}
	seen := make(map[identity]struct{}, len(lines))
	var text, scratch []byte
	for _, l := range lines {
		rule := rule{allow: l.allow, lineNo: l.no}
		scratch = rule.normalize(scratch[:0], l.value)
		pattern := l.value[:min(len(l.value), len(scratch))]
		if pattern != string(scratch) {
			pattern = string(scratch)
		}
		id := identity{pattern, l.allow, rule.anchored}
		if _, again := seen[id]; again {
			continue
		}
		seen[id] = struct{}{}
		text = rule.place(text, l, pattern)
		r.rules = append(r.rules, rule)
		if rule.wild {
			r.wild++
		}
	}
	r.rules = slices.Clip(r.rules)
	slices.SortFunc(r.rules, byPrecedence)
	r.text = string(text)
}

// byPrecedence sorts the winning rule first: the longest, Allow before Disallow, and of equal ones the first
// in the file.
func byPrecedence(a, b rule) int {
	if c := cmp.Compare(b.length, a.length); c != 0 {
		return c
	}
	if a.allow != b.allow {
		if a.allow {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.lineNo, b.lineNo)
}

// lines yields the lines of a text. They end with LF, CR or both, or with a vertical tab or form feed, at
// which editors break lines.
func lines(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			i := strings.IndexAny(s, "\r\n\v\f")
			if i < 0 {
				yield(s)
				return
			}
			if !yield(s[:i]) {
				return
			}
			if strings.HasPrefix(s[i:], "\r\n") {
				i++
			}
			s = s[i+1:]
		}
	}
}

// text returns the body as UTF-8, cut after its last complete line. It removes a byte order mark, also a
// partial one or one that was decoded as Latin 1 and encoded again. Unicode line breaks become LF.
func text(body []byte) string {
	cut := len(body) >= MaxBytes
	body = body[:min(len(body), MaxBytes)]
	s := decodeUTF16(body)
	if s == "" {
		s = string(body)
	}
	if cut {
		s = s[:strings.LastIndexAny(s, "\r\n")+1]
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, byteOrderMark), "\u00ef\u00bb\u00bf")
	for _, part := range []string{"\xef", "\xbb", "\xbf"} {
		if c, size := utf8.DecodeRuneInString(s); c == utf8.RuneError && size == 1 {
			s = strings.TrimPrefix(s, part)
		}
	}
	for _, lineBreak := range []string{"\u0085", "\u2028", "\u2029"} {
		s = strings.ReplaceAll(s, lineBreak, "\n")
	}
	return s
}

// decodeUTF16 decodes a body that begins like UTF-16, with or without a byte order mark, and returns "" for
// any other. RFC 9309 allows only UTF-8, but a site that uses UTF-16 means its rules seriously.
func decodeUTF16(body []byte) string {
	if len(body) < 4 || (body[2] == 0) == (body[3] == 0) {
		return ""
	}
	var order binary.ByteOrder
	switch bom := string(body[:2]); {
	case bom == "\xff\xfe", bom[0] != 0 && bom[1] == 0 && body[3] == 0:
		order = binary.LittleEndian
	case bom == "\xfe\xff", bom[0] == 0 && bom[1] != 0 && body[2] == 0:
		order = binary.BigEndian
	default:
		return ""
	}
	units := make([]uint16, 0, len(body)/2)
	for b := body; len(b) >= 2; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	return string(utf16.Decode(units))
}

// token returns the product token at the start of a value (RFC 9309, section 2.2.1); digits are allowed.
func token(s string) string {
	for i := range len(s) {
		if c := s[i]; c != '_' && c != '-' && !isAlphanumeric(c) {
			return s[:i]
		}
	}
	return s
}

func trim(s string) string { return strings.Trim(s, " \t") }

// withoutUnseen returns s as an editor displays it: without blanks of any kind at its ends and without
// zero-width characters, such as a byte order mark, anywhere. Bytes that are not UTF-8 remain, except for a
// Latin 1 no-break space at an end.
func withoutUnseen(s string) string {
	var b strings.Builder
	blanks := 0 // bytes written at the end
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		char := s[:size]
		s = s[size:]
		switch blank := isBlank(c) || char == latin1NoBreakSpace; {
		case blank && b.Len() == 0, !blank && isUnseen(c):
			continue
		case blank:
			blanks += size
		default:
			blanks = 0
		}
		b.WriteString(char)
	}
	return b.String()[:b.Len()-blanks]
}

// trimUnseen removes blanks, invisible characters and bytes that are not UTF-8 from both ends.
func trimUnseen(s string) string {
	return strings.TrimFunc(s, func(c rune) bool { return c == utf8.RuneError || isUnseen(c) })
}

// isUnseen reports a character that an editor displays as a blank or not at all.
func isUnseen(c rune) bool {
	return isBlank(c) || c > '~' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) || c < ' ' || c == 0x7f
}

// isBlank reports a character that an editor displays as a blank.
func isBlank(c rune) bool {
	return c == ' ' || c == '	' || c > '~' && (unicode.IsSpace(c) || c == brailleBlank)
}
