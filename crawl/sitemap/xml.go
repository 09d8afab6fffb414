package sitemap

import (
	"encoding/xml"
	"strings"
)

const maxRepairs = 1000 // points at which parsing of a damaged file resumes

// A field is the part of an entry for which text is being collected.
type field uint8

const (
	noField   field = iota
	bareField       // text of the entry itself: some indexes omit <loc>
	locField
	guidField
	dateField
	frequencyField
)

// An xmlReader follows the elements of a file. It keeps no stack: a new entry ends the previous one, whatever
// is still open, so nesting costs nothing.
type xmlReader struct {
	*list
	in    *input
	root  string
	ended bool // the root was closed
	stop  bool

	open   bool   // within an entry,
	name   string // with this element name
	prefix string // and this namespace prefix
	child  bool   // the entry is a sitemap
	entry  Entry  // its Loc is not yet resolved
	guid   string

	spaces  map[string]string // namespaces declared by the root, by prefix
	foreign string            // open element of another namespace, whose content is ignored
	nested  int               // open elements of that name in it

	field   field
	element string // with which the field began
	text    []byte
}

func (l *list) readXML(in *input) {
	r := &xmlReader{list: l, in: in}
	in.eachToken(func(t xml.Token) bool {
		r.token(t)
		return !r.stop
	})
	r.finish()
}

// EachToken calls f for the tokens of an XML file other than a sitemap, until f returns false. It reads the file as
// [Parse] does: in any encoding, damaged or not, and no more than limit bytes of it, decompressed. Tokens are not
// matched with each other, and are valid only until f returns.
func EachToken(body []byte, contentType string, limit int64, f func(xml.Token) bool) {
	open(body, contentType, limit).eachToken(f)
}

// eachToken resumes after damage, a limited number of times.
func (in *input) eachToken(f func(xml.Token) bool) {
	repairs := 0
	for d := newDecoder(in); repairs <= maxRepairs; {
		in.begin()
		token, err := d.RawToken()
		switch {
		case err == nil:
			if !f(token) {
				return
			}
			continue
		case in.ended:
			return
		}
		repairs++
		in.again()
		d = newDecoder(in)
	}
}

// newDecoder returns a decoder for raw tokens, which are not matched with each other. The input is already
// UTF-8, whatever the file declares.
func newDecoder(in *input) *xml.Decoder {
	d := xml.NewDecoder(in)
	d.Strict = false
	d.Entity = xml.HTMLEntity // some sitemaps use HTML entities as if XML had them
	d.CharsetReader = sameInput
	return d
}

func (r *xmlReader) token(t xml.Token) {
	switch t := t.(type) {
	case xml.StartElement:
		r.start(t, strings.ToLower(t.Name.Local))
	case xml.EndElement:
		r.end(strings.ToLower(t.Name.Local))
	case xml.CharData:
		if r.field != noField && len(r.text) <= maxLoc {
			r.text = append(r.text, t...)
		}
		if r.in.ended { // truncated text: half a URL is useless
			r.field = noField
		}
	}
}

func (r *xmlReader) start(t xml.StartElement, name string) {
	switch {
	case r.file.Kind == Unknown:
		r.file.Kind, r.root = kindOf(name), name
		r.stop = name == "html"
		r.declare(t)
	case r.isForeign(t):
		if r.foreign == "" {
			r.foreign = name
		} else if r.foreign == name {
			r.nested++
		}
	case r.foreign == name:
		r.nested++
	case r.begins(name):
		if r.field == locField && clean(string(r.text)) == "" {
			return // <loc><url>
		}
		r.flush()
		if r.full() {
			r.file.Truncated, r.stop = true, true
			return
		}
		r.foreign, r.nested = "", 0
		r.open, r.name, r.prefix, r.child = true, name, t.Name.Space, name == "sitemap"
		r.field, r.element = bareField, name
	case r.open && r.foreign == "":
		r.startField(t, name)
	}
}

// declare records the namespaces declared by the root.
func (r *xmlReader) declare(root xml.StartElement) {
	r.spaces = map[string]string{}
	for _, a := range root.Attr {
		switch {
		case a.Name.Space == "xmlns":
			r.spaces[a.Name.Local] = a.Value
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			r.spaces[""] = a.Value
		}
	}
	r.spaces[""] = r.spaces[root.Name.Space] // wrong ones are common: the root's namespace counts as its own
}

// isForeign reports an element of a sitemap in another namespace, such as that of images. The prefix decides
// for elements without a namespace, or with an undeclared one.
func (r *xmlReader) isForeign(t xml.StartElement) bool {
	if r.file.Kind != URLSet && r.file.Kind != Index {
		return false
	}
	space := ""
	if t.Name.Space != "" {
		space = r.spaces[t.Name.Space]
	}
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" && a.Name.Local == t.Name.Space ||
			a.Name.Space == "" && a.Name.Local == "xmlns" && t.Name.Space == "" {
			space = a.Value
		}
	}
	return space != "" && space != r.spaces[""] && !isSitemapSpace(space)
}

// isSitemapSpace reports the namespace of sitemaps.org, or Google's earlier one.
func isSitemapSpace(space string) bool { return strings.Contains(space, "/schemas/sitemap/") }

func kindOf(root string) Kind {
	switch root {
	case "urlset":
		return URLSet
	case "sitemapindex":
		return Index
	case "rss", "rdf":
		return RSS
	case "feed":
		return Atom
	}
	return Unknown
}

// begins reports whether an element is an entry in this kind of file.
func (r *xmlReader) begins(name string) bool {
	switch r.file.Kind {
	case RSS:
		return name == "item"
	case Atom:
		return name == "entry"
	}
	return name == "url" || name == "sitemap"
}

// startField ends the previous field if that has a value; an element without one may be wrapped around what
// follows.
func (r *xmlReader) startField(t xml.StartElement, name string) {
	f := r.fieldOf(t.Name.Space, name)
	if f == noField && r.field != bareField {
		return
	}
	r.endField()
	r.field, r.element = f, name
	if f == locField && r.file.Kind == Atom {
		r.field = noField
		if r.entry.Loc == "" {
			r.entry.Loc = atomLink(t.Attr)
		}
	}
}

// fieldOf returns the field of an element. Dates may be in another namespace (dc:date).
func (r *xmlReader) fieldOf(prefix, name string) field {
	feed := r.file.Kind == RSS || r.file.Kind == Atom
	switch {
	case feed && (name == "pubdate" || name == "date" || name == "updated" || name == "published"):
		return dateField
	case prefix != r.prefix && !isSitemapSpace(r.spaces[prefix]):
		return noField
	case !feed && name == "loc", feed && name == "link":
		return locField
	case r.file.Kind == RSS && name == "guid":
		return guidField
	case !feed && name == "lastmod":
		return dateField
	case !feed && name == "changefreq":
		return frequencyField
	}
	return noField
}

// atomLink returns the target of a link if it leads to the entry itself.
func atomLink(attributes []xml.Attr) (href string) {
	for _, a := range attributes {
		switch strings.ToLower(a.Name.Local) {
		case "href":
			href = a.Value
		case "rel":
			if !strings.EqualFold(clean(a.Value), "alternate") && clean(a.Value) != "" {
				return ""
			}
		}
	}
	return clean(href)
}

func (r *xmlReader) end(name string) {
	switch {
	case name == r.foreign:
		if r.nested--; r.nested < 0 {
			r.foreign, r.nested = "", 0
		}
	case r.open && name == r.name:
		r.flush()
	case r.open && (name == r.element || r.field == bareField):
		r.endField()
	case name == r.root:
		r.flush()
		r.ended = true
	}
}

// endField stores the collected text in its field.
func (r *xmlReader) endField() {
	f, text := r.field, clean(string(r.text))
	r.field, r.text = noField, r.text[:0]
	switch {
	case f == bareField && isAbsolute(undecorated(text)), f == locField && r.entry.Loc == "":
		r.entry.Loc = text
	case f == locField && r.file.Kind != RSS: // a second URL in one entry is another entry
		name, prefix, child := r.name, r.prefix, r.child
		r.flush()
		r.open, r.name, r.prefix, r.child = true, name, prefix, child
		r.entry.Loc = text
	case f == guidField:
		r.guid = text
	case f == dateField && r.entry.LastMod.IsZero():
		r.entry.LastMod = parseDate(text)
	case f == frequencyField && r.entry.ChangeFreq == "":
		r.entry.ChangeFreq = frequency(text)
	}
}

// flush ends the pending entry, if any, and adds it.
func (r *xmlReader) flush() {
	if !r.open {
		return
	}
	r.endField()
	e, guid := r.entry, r.guid
	r.open, r.entry, r.guid = false, Entry{}, ""
	if e.Loc == "" && isAbsolute(guid) {
		e.Loc = guid
	}
	for _, ref := range split(e.Loc) {
		if e.Loc = r.locate.resolve(ref); e.Loc != "" {
			r.add(e, r.child)
		}
	}
}

// finish adds the last entry of a truncated file.
func (r *xmlReader) finish() {
	if r.open && r.field != noField {
		r.endField()
	}
	if r.entry.Loc != "" || r.guid != "" {
		r.flush()
	}
	if !r.ended {
		r.file.Truncated = true
	}
}
