package page

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/opml"
	"github.com/sumi-ripple/ripple/crawl/simhash"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An Extractor reads pages, one after the other, and reuses its memory.
type Extractor struct {
	opt Options

	scan      scanner
	ledger    ledger
	nesting   nesting
	robots    robots
	words     simhash.Hasher // of the text outside headers, footers and navigation
	shown     shown
	hydration hydration

	page     *Page
	heads    []headerLink // from the header of the answer
	said     []preference.Statement
	licenses []string // as the elements name them
	titled   bool     // the title was found
	scripted bool     // a script was found
	base     []byte   // value of the first <base href>
	based    bool     // there is one
	link     int      // position in the ledger of the current link, -1: none
	reading  bool     // the link's text is needed
	text     []byte   // the text so far
	hidden   bool     // the text is that of a style or script in a drawing
	alt      string   // of the first image in the link that has one
}

// NewExtractor returns an extractor with its own memory.
func NewExtractor(opt Options) *Extractor {
	if opt.MaxLinks <= 0 {
		opt.MaxLinks = config.DefaultLinks
	}
	e := &Extractor{opt: opt}
	e.ledger.limit = 4 * max(opt.MaxLinks, config.DefaultLinks)
	return e
}

// Answer reads a page together with the header of its answer: type and links. If the body is neither
// HTML nor a list in OPML, the links are those of the header.
func (e *Extractor) Answer(header http.Header, contentType string, body []byte, base *weburl.Base, self string) Page {
	e.heads, e.said = headerLinks(header, base, self), headerPreferences(header, base, self)
	defer func() { e.heads, e.said = nil, nil }()
	if len(body) > 0 && media.Extract(contentType).IsHTML() {
		return e.Extract(body, contentType, base, self)
	}
	if e.opt.OPML && media.Extract(contentType).MayBeOPML() && opml.Is(body, contentType) {
		return e.list(body, contentType, base, self)
	}
	if len(e.heads)+len(e.said) == 0 {
		return Page{}
	}
	said := e.Extract(nil, "text/html", base, self)
	content := schema.Content{Distinct: said.Distinct, Refused: said.Refused, Preferences: said.Preferences}
	return Page{Content: content, Links: said.Links}
}

// Extract reads a page that was fetched from base with the given content type; self is its Norm.
func (e *Extractor) Extract(body []byte, contentType string, base *weburl.Base, self string) Page {
	encoding := encodingOf(body, contentType)
	text := encoding.Decode(body)
	if media.Extract(contentType).IsXHTML() {
		text = closed(unprefixed(textual(text)))
	}
	p := Page{Content: schema.Content{Charset: encoding.Name()}}
	e.hydration = hydration{at: weburl.PathQuery(self)}
	e.read(&p, text)
	if encode := encoding.Query(); encode != nil {
		base = base.Encoded(encode)
	}
	if e.based {
		if b, err := base.With(attributeValue(string(e.base))); err == nil {
			base = b
		}
	}
	e.ledger.resolve(&p, base, self, e.opt.MaxLinks)
	p.Preferences = e.preferences(base)
	if e.scripted && p.Distinct <= shellTargets {
		p.Shell = shellOf(&e.scan, text, base, self)
	}
	if e.scripted && e.hydration.missing() {
		p.Shell |= schema.ShellHydrates
	}
	p.SimHash, p.WordCount, p.Words = e.words.Sum(), e.words.Words(), e.words.Vocabulary()
	p.Shown = e.shown.sum(p.Title, weburl.PathQuery(self))
	p.Facts = facts(e.opt.Extracts, text, weburl.Host(self))
	p.Obey(e.robots.tag)
	if e.opt.Anchors {
		p.Anchors = anchorsOf(&e.scan, text, base)
	}
	e.scan.reset(nil) // releases the body
	e.base = nil
	return p
}

// read collects the content of the page, up to resolving its links.
func (e *Extractor) read(p *Page, text []byte) {
	e.page = p
	e.scan.reset(text)
	e.ledger.reset()
	e.nesting.reset()
	e.words.Reset()
	e.shown.reset()
	e.scan.keepText = true
	e.robots = robots{agent: e.opt.Agent}
	e.titled, e.scripted, e.base, e.based, e.link, e.licenses = false, false, nil, false, -1, nil
	for _, l := range e.heads {
		e.ledger.add(asWritten(l.url), l.kinds, l.rel, noPlace)
	}
	for {
		switch e.scan.next() {
		case tokenStart:
			e.start(e.scan.tag)
		case tokenEnd:
			e.end(e.scan.tag)
		case tokenText:
			e.addText(e.scan.text)
		case tokenEOF:
			e.closeLink()
			e.page = nil
			return
		}
	}
}

func (e *Extractor) start(t tag) {
	attrs := &e.scan.attrs
	if !e.hydration.linked && e.inContent() {
		e.hydration.element(&e.scan, t)
	}
	switch t {
	case tagFont:
	case tagOther:
		e.nest(t)
	case tagA:
		e.closeLink()
		e.openLink(attrs)
	case tagArea:
		e.area(attrs)
	case tagImg:
		e.image(attrs)
	case tagLink:
		e.linkElement(attrs)
	case tagFrame:
		if src, ok := attrs.get(attrSrc); ok {
			e.ledger.add(src, schema.Kinds(0).Add(schema.LinkFrame), 0, e.nesting.place())
		}
	case tagBase:
		if href, ok := attrs.get(attrHref); ok && !e.based && e.scan.foreign.document() {
			e.base, e.based = href, true
		}
	case tagMeta:
		e.meta(attrs)
	case tagTitle:
		e.title()
	case tagScript, tagStyle:
		e.breakWord()
		if t == tagScript {
			e.scripted = true
			e.hydration.script(&e.scan)
		}
		e.hidden = e.scan.raw == nil && !e.scan.attrs.selfClosing
	case tagForeign:
		e.breakWord()
		if is(e.scan.name, "template") {
			e.hydration.template(&e.scan)
		}
	case tagTextarea, tagPlaintext, tagRaw: // whose end tags are ignored
		e.breakWord()
	default:
		e.breakWord()
		e.nest(t)
	}
}

// nest processes the start tag of an element that may contain links.
func (e *Extractor) nest(t tag) {
	if t.nests() || !e.scan.foreign.within() {
		role, _ := e.scan.attrs.get(attrRole)
		e.nesting.enter(t, e.scan.name, role)
	}
}

func (e *Extractor) end(t tag) {
	if e.hydration.list != nil && e.inContent() {
		e.hydration.end(e.scan.name)
	}
	switch {
	case t == tagA:
		e.closeLink()
	case t == tagOther:
		e.nesting.leave(t, e.scan.name)
	case t.nests() || t == tagBreak:
		e.nesting.leave(t, e.scan.name)
		e.breakWord()
	case t == tagScript || t == tagStyle:
		e.hidden = false
	}
}

// openLink begins an <a>, which is a link unless it is a download or has no target.
func (e *Extractor) openLink(attrs *attributes) {
	target, ok := attrs.get(attrHref)
	if !ok && e.scan.foreign.within() {
		target, ok = attrs.get(attrXlinkHref)
	}
	if _, download := attrs.get(attrDownload); !ok || download {
		return
	}
	if e.scan.foreign.count[elementTemplate] > 0 {
		return
	}
	if e.inContent() {
		e.hydration.link(target)
	}
	rel, _ := attrs.get(attrRel)
	e.link = e.ledger.add(target, anchorKinds(rel), relFlags(rel), e.nesting.place())
	e.reading = e.link >= 0 && e.ledger.hrefs[e.link].anchor == ""
	e.text, e.alt, e.hidden = e.text[:0], "", false
}

// closeLink ends the open <a>, if any.
func (e *Extractor) closeLink() {
	if e.reading {
		anchor := clip(string(e.text), anchorLength)
		if anchor == "" {
			anchor = e.alt
		}
		e.ledger.anchor(e.link, anchor)
	}
	e.link, e.reading = -1, false
}

// addText adds a piece of text.
func (e *Extractor) addText(raw []byte) {
	if e.hidden = e.hidden && e.scan.foreign.within(); e.hidden {
		return
	}
	e.addWords(raw)
	e.addShown(raw)
	if e.reading {
		e.addAnchor(raw)
	}
}

// addAnchor adds a piece of a link's text, cut to more than 120 characters can need.
func (e *Extractor) addAnchor(raw []byte) {
	const enough = 8 << 10
	switch {
	case len(e.text) > enough:
	case e.scan.literal:
		e.text = append(e.text, raw[:min(len(raw), enough)]...)
	default:
		e.text = append(e.text, unescapeText(raw, enough)...)
	}
}

// breakWord separates the words before and after a tag that is not inline.
func (e *Extractor) breakWord() {
	e.words.Break()
	e.shown.separate()
	if n := len(e.text); e.reading && n > 0 && e.text[n-1] != ' ' {
		e.text = append(e.text, ' ')
	}
}

func (e *Extractor) area(attrs *attributes) {
	target, ok := attrs.get(attrHref)
	if _, download := attrs.get(attrDownload); !ok || download || e.scan.foreign.count[elementTemplate] > 0 {
		return
	}
	rel, _ := attrs.get(attrRel)
	if i := e.ledger.add(target, anchorKinds(rel), relFlags(rel), e.nesting.place()); i >= 0 {
		e.ledger.anchor(i, altText(attrs))
	}
}

func (e *Extractor) image(attrs *attributes) {
	if src, ok := attrs.get(attrSrc); ok {
		e.shown.separate()
		e.addShown(src)
		e.shown.separate()
	}
	if e.reading && e.alt == "" {
		e.alt = altText(attrs)
	}
}

// linkElement reads a <link>: its license, and the link that its relations mean.
func (e *Extractor) linkElement(attrs *attributes) {
	target, ok := attrs.get(attrHref)
	if !ok || !e.scan.foreign.document() {
		return
	}
	rel, _ := attrs.get(attrRel)
	mediaType, _ := attrs.get(attrType)
	if kinds := relationKinds(rel, mediaType); kinds != 0 {
		e.ledger.add(target, kinds, relFlags(rel), noPlace)
	}
	if hasWord(rel, "license") {
		e.license(target)
	}
}

// meta reads refresh and robots metas.
func (e *Extractor) meta(attrs *attributes) {
	content, ok := attrs.get(attrContent)
	if !ok || !e.scan.foreign.document() {
		return
	}
	if equiv, _ := attrs.get(attrHTTPEquiv); means(equiv, "refresh") {
		if target := refreshTarget(attributeValue(string(content))); target != "" {
			e.ledger.add(asWritten(target), schema.Kinds(0).Add(schema.LinkRefresh), 0, e.nesting.place())
		}
	}
	if name, ok := attrs.get(attrName); ok {
		e.robots.meta(name, content)
	}
}

// title reads the first title of the document, outside drawings and templates.
func (e *Extractor) title() {
	if e.scan.raw != nil && e.scan.foreign.count[elementTemplate] == 0 && !e.titled {
		e.titled = true
		e.page.Title = clip(string(unescapeText(e.scan.raw, 64<<10)), titleLength)
	}
}

// anchorKinds returns the kinds of a visible link with these relations.
func anchorKinds(rel []byte) schema.Kinds { return personKinds(rel).Add(schema.LinkAnchor) }

// relFlags parses the relevant flags of a rel attribute.
func relFlags(rel []byte) schema.Rel {
	var flags schema.Rel
	if len(rel) < len("ugc") {
		return flags
	}
	for word := range bytes.FieldsFuncSeq(rel, isSeparator) {
		switch {
		case bytes.EqualFold(word, []byte("nofollow")):
			flags |= schema.RelNofollow
		case bytes.EqualFold(word, []byte("ugc")):
			flags |= schema.RelUGC
		case bytes.EqualFold(word, []byte("sponsored")):
			flags |= schema.RelSponsored
		}
	}
	return flags
}

// isSeparator reports ASCII white space, the only separator of words in an attribute.
func isSeparator(c rune) bool { return c < 0x80 && isSpace(byte(c)) }

func hasWord(list []byte, word string) bool {
	for w := range bytes.FieldsFuncSeq(list, isSeparator) {
		if bytes.EqualFold(w, []byte(word)) {
			return true
		}
	}
	return false
}

// altText is the alternative text of an image or area.
func altText(attrs *attributes) string {
	alt, _ := attrs.get(attrAlt)
	if len(alt) > 8<<10 {
		alt = alt[:8<<10]
	}
	return clip(attributeValue(string(alt)), anchorLength)
}

// clip cleans text and cuts it to a number of characters.
func clip(s string, runes int) string {
	s = schema.Clean(s, runes*utf8.UTFMax)
	if len(s) <= runes {
		return s
	}
	for i := range s {
		if runes == 0 {
			return strings.Clone(strings.TrimRight(s[:i], " "))
		}
		runes--
	}
	return s
}
