package kv

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// The flags of a visit.
const (
	visitKept = 1 << iota
	visitNoIndex
	visitNoFollow
	visitUnchanged
	visitHashed
	visitLeft
	visitLeftOwn
	visitByHead
	visitProxied
	visitSimHashed
	visitShown
	visitArchived
)

// Bits of a link: its place, its rel flags, whether its kinds follow because they are not those of a plain
// anchor, and whether only the rendering showed it. The kinds are a number, whose lowest bit says whether all
// links except the canonical one and the feed carry nofollow.
const (
	linkRel      = 3
	linkKinds    = 1 << 6
	linkRendered = 1 << 7
	kindNofollow = 1
	plainLink    = schema.Kinds(1 << schema.LinkAnchor)
)

// These do not compile if an enumeration has outgrown its bits.
const (
	_ = uint8(15 - schema.LinkKindCount)
	_ = uint8(1<<linkRel - schema.PlaceCount)
)

// httpDate is the layout of dates in HTTP headers.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// knownWords returns content types and charsets that are stored as a number, their position counted from 1.
// Words may only be added at the end.
func knownWords() [12]string {
	return [...]string{"text/html", "text/html; charset=utf-8", "text/html; charset=UTF-8", "text/html;charset=utf-8",
		"text/html;charset=UTF-8", "utf-8", "UTF-8", "windows-1252", "iso-8859-1", "application/xhtml+xml",
		"application/xml", "text/xml"}
}

func encodeVisit(w *writer, v *schema.Visit, shape schema.Shape, anchors bool) {
	w.uint(uint64(v.URL))
	encodeLinks(w, v.Links, anchors)
	w.uint(uint64(v.Run))
	w.uint(v.Commit)
	w.millis(v.At)
	w.uint(uint64(v.Prev))
	w.uint(uint64(v.Stand))
	w.uint(visitFlags(v))
	w.byte(byte(v.State))
	w.number(v.Status)
	w.byte(byte(shape))
	if shape == schema.ShapeOther {
		w.string(v.Form)
	}
	w.uint(uint64(v.Knew.Shapes) | uint64(v.Knew.Own)<<4 | uint64(v.Knew.Others)<<8 | uint64(v.Knew.OwnOthers)<<24)
	w.uint(uint64(v.RedirectTo))
	w.number(v.AliasHops)
	w.number(v.Retries)
	w.number(v.Requests)
	w.string(v.Title)
	w.word(v.ContentType)
	w.word(v.Charset)
	w.date(v.LastModified)
	w.string(v.ETag)
	w.date(v.ServerDate)
	w.number(int(v.Fresh / time.Second))
	w.int(v.Length)
	if v.SHA256 != [32]byte{} {
		w.raw(v.SHA256[:])
	}
	w.int(int64(v.ResponseTime / time.Millisecond))
	if v.Proxy != "" {
		w.string(v.Proxy)
	}
	w.reason(&v.Reason)
	w.string(v.Rule)
	w.number(v.Distinct)
	w.string(v.StoredPath)
	encodeFindings(w, v)
	w.number(v.BeyondHosts)
	w.number(v.BeyondText)
	w.number(v.LinkLimit)
	w.byte(byte(v.Shell))
	w.uint(uint64(v.Rendering))
	w.number(v.RenderAsked)
	if v.Rendering != 0 {
		for _, n := range v.Refusals {
			w.number(n)
		}
	}
	if v.SimHash != 0 {
		w.fixed(uint64(v.SimHash))
	}
	if v.Shown != 0 {
		w.fixed(uint64(v.Shown))
	}
	w.number(v.WordCount)
	w.number(v.Refused)
	w.string(v.Preferences)
	w.byte(byte(v.Answer))
	if v.Answer != schema.AnswerPage {
		w.string(v.AnswerRule)
		w.number(v.AnswerStatus)
	}
}

func encodeFindings(w *writer, v *schema.Visit) {
	w.number(len(v.Facts))
	for i := range v.Facts {
		w.string(v.Facts[i].Name)
		w.string(v.Facts[i].Value)
	}
	w.number(len(v.Sitemap))
	before := int64(0)
	for i := range v.Sitemap {
		e := &v.Sitemap[i]
		w.int(int64(e.To) - before)
		w.seconds(e.LastMod)
		w.string(e.ChangeFreq)
		before = int64(e.To)
	}
	w.number(v.Children)
}

func visitFlags(v *schema.Visit) uint64 {
	flags := uint64(0)
	for _, f := range [...]struct {
		on   bool
		flag uint64
	}{{v.Kept, visitKept}, {v.NoIndex, visitNoIndex}, {v.NoFollow, visitNoFollow}, {v.Unchanged, visitUnchanged},
		{v.SHA256 != [32]byte{}, visitHashed}, {v.Left, visitLeft}, {v.LeftOwn, visitLeftOwn},
		{v.ByHead, visitByHead}, {v.Proxy != "", visitProxied}, {v.SimHash != 0, visitSimHashed},
		{v.Shown != 0, visitShown}, {v.Archived, visitArchived}} {
		if f.on {
			flags |= f.flag
		}
	}
	return flags
}

func decodeVisit(r *reader, seq schema.Seq) (*schema.Visit, schema.Shape) {
	v := &schema.Visit{}
	return v, decodeVisitInto(v, r, seq)
}

// decodeVisitInto is decodeVisit, reusing the memory of v and of its links.
func decodeVisitInto(v *schema.Visit, r *reader, seq schema.Seq) schema.Shape {
	*v = schema.Visit{Seq: seq, URL: r.id(), Links: v.Links[:0]}
	v.Links, _ = decodeLinks(r, v.Links)
	return decodeFields(v, r)
}

// earlier returns the number of a visit before than; 0: none.
func (r *reader) earlier(than schema.Seq) schema.Seq { return schema.Seq(r.narrow(uint64(than) - 1)) }

// decodeFields decodes the fields after the links of a visit.
func decodeFields(v *schema.Visit, r *reader) schema.Shape {
	shape, flags := decodeRequest(v, r)
	v.Title = r.text()
	v.ContentType = r.word()
	v.Charset = r.word()
	v.LastModified = r.date()
	v.ETag = r.text()
	v.ServerDate = r.date()
	v.Fresh = time.Duration(r.number()) * time.Second
	v.Length = r.int()
	if flags&visitHashed != 0 {
		copy(v.SHA256[:], r.raw(32))
	}
	v.ResponseTime = time.Duration(r.int()) * time.Millisecond
	if flags&visitProxied != 0 {
		v.Proxy = r.text()
	}
	v.Reason = r.reason()
	v.Rule = r.string()
	v.Distinct = r.number()
	v.StoredPath = r.text()
	decodeFindings(r, v)
	v.BeyondHosts, v.BeyondText, v.LinkLimit = r.number(), r.number(), r.number()
	v.Shell, v.Rendering = schema.Shell(r.byte()), schema.Rendering(r.narrow(1<<16-1))
	v.RenderAsked = r.number()
	if v.Rendering != 0 {
		for kind := range v.Refusals {
			v.Refusals[kind] = r.number()
		}
	}
	if flags&visitSimHashed != 0 {
		v.SimHash = schema.SimHash(r.fixed())
	}
	if flags&visitShown != 0 {
		v.Shown = schema.Shown(r.fixed())
	}
	v.WordCount, v.Refused = r.number(), r.number()
	v.Preferences = r.text()
	if v.Answer = schema.Answer(r.byte()); !v.Answer.Stored() {
		r.fail()
	}
	if v.Answer != schema.AnswerPage {
		v.AnswerRule, v.AnswerStatus = r.string(), r.number()
	}
	return shape
}

// decodeRequest decodes the fields between the links and the title of a visit, and returns its form and flags.
func decodeRequest(v *schema.Visit, r *reader) (shape schema.Shape, flags uint64) {
	v.Run = schema.RunID(r.id())
	v.Commit = r.uint()
	v.At = r.millis()
	v.Prev = r.earlier(v.Seq)
	v.Stand = r.earlier(v.Seq)
	flags = r.uint()
	v.Kept = flags&visitKept != 0
	v.NoIndex = flags&visitNoIndex != 0
	v.NoFollow = flags&visitNoFollow != 0
	v.Unchanged = flags&visitUnchanged != 0
	v.Left = flags&visitLeft != 0
	v.LeftOwn = flags&visitLeftOwn != 0
	v.ByHead = flags&visitByHead != 0
	v.Archived = flags&visitArchived != 0
	if v.State = schema.State(r.byte()); !v.State.Valid() {
		r.fail()
	}
	v.Status = r.number()
	shape = schema.Shape(r.byte())
	if shape == schema.ShapeOther {
		v.Form = r.text()
	}
	forms := r.narrow(1<<40 - 1)
	v.Knew = schema.FormSet{Shapes: schema.Shape(forms & 15), Own: schema.Shape(forms >> 4 & 15),
		Others: uint16(forms >> 8), OwnOthers: uint16(forms >> 24)}
	v.RedirectTo = r.id()
	v.AliasHops = r.number()
	v.Retries = r.number()
	v.Requests = r.number()
	return shape, flags
}

func decodeFindings(r *reader, v *schema.Visit) {
	for range r.length(2) {
		if f := (schema.Fact{Name: r.text(), Value: r.text()}); !r.lean {
			v.Facts = append(v.Facts, f)
		}
	}
	before := int64(0)
	for range r.length(3) {
		before += r.int()
		if before < 0 || before > 1<<32-1 {
			r.fail()
			return
		}
		e := schema.SitemapEntry{To: schema.ID(before), LastMod: r.seconds(), ChangeFreq: r.text()}
		if !r.lean {
			v.Sitemap = append(v.Sitemap, e)
		}
	}
	v.Children = r.number()
}

// encodeLinks writes links by ascending target: twice their number, plus one if there are anchors in the
// other bucket, then each as its difference from the previous one and a byte of flags.
func encodeLinks(w *writer, links []schema.Link, anchors bool) {
	n := uint64(len(links)) << 1
	if anchors {
		n++
	}
	w.uint(n)
	before := schema.ID(0)
	for i := range links {
		l := &links[i]
		w.uint(uint64(l.To - before))
		flags := byte(l.Place)&7 | byte(l.Rel&7)<<linkRel
		if l.Rendered {
			flags |= linkRendered
		}
		if l.Kinds == plainLink {
			w.byte(flags)
		} else {
			w.byte(flags | linkKinds)
			kinds := uint64(l.Kinds) << 1
			if l.Nofollow {
				kinds |= kindNofollow
			}
			w.uint(kinds)
		}
		before = l.To
	}
}

// decodeLinks appends links, and reports whether there are anchors.
func decodeLinks(r *reader, dst []schema.Link) ([]schema.Link, bool) {
	v := r.uint()
	n, anchors := v>>1, v&1 != 0
	if n > uint64(len(r.b)/2) {
		r.fail()
		return dst, false
	}
	dst = slices.Grow(dst, int(n))
	b, at, to := r.b, 0, uint64(0)
	for range n {
		if at+1 >= len(b) {
			r.fail()
			return dst, false
		}
		delta, size := uint64(b[at]), 1
		if delta >= 0x80 {
			delta, size = binary.Uvarint(b[at:])
		}
		at += size
		if to += delta; size <= 0 || to > 1<<32-1 || delta-1 > 1<<32-2 || at >= len(b) { // a delta of 0 repeats the target
			r.fail()
			return dst, false
		}
		flags, kinds, nofollow := b[at], plainLink, false
		if at++; flags&linkKinds != 0 {
			kinds, nofollow, size = decodeKinds(b[at:])
			if size == 0 {
				r.fail()
				return dst, false
			}
			at += size
		}
		dst = append(dst, schema.Link{To: schema.ID(to), Kinds: kinds, Place: schema.Place(flags & 7),
			Rel: schema.Rel(flags >> linkRel & 7), Rendered: flags&linkRendered != 0, Nofollow: nofollow})
	}
	r.b = b[at:]
	return dst, anchors
}

// decodeKinds reads the kinds of a link and its bit nofollow from the first size bytes of b. size is 0 if they
// cannot be read.
func decodeKinds(b []byte) (kinds schema.Kinds, nofollow bool, size int) {
	if len(b) > 0 && b[0] < 0x80 {
		return schema.Kinds(b[0] >> 1), b[0]&kindNofollow != 0, 1
	}
	v, size := binary.Uvarint(b)
	if size <= 0 || v > 1<<16-1 {
		return 0, false, 0
	}
	return schema.Kinds(v >> 1), v&kindNofollow != 0, size
}

// countLinks skips links. It returns their number, how many of them lead only to feeds, and the kinds of the
// first.
func countLinks(r *reader) (n, feeds int, first schema.Kinds) {
	n = int(r.uint() >> 1)
	if n > len(r.b)/2 {
		r.fail()
		return 0, 0, 0
	}
	b, at := r.b, 0
	for i := range n {
		for at < len(b) && b[at] >= 0x80 {
			at++
		}
		if at++; at >= len(b) {
			r.fail()
			return 0, 0, 0
		}
		kinds, size := plainLink, 0
		if at++; b[at-1]&linkKinds != 0 {
			if kinds, _, size = decodeKinds(b[at:]); size == 0 {
				r.fail()
				return 0, 0, 0
			}
			at += size
		}
		if kinds == schema.OnlyFeed {
			feeds++
		}
		if i == 0 {
			first = kinds
		}
	}
	r.b = b[at:]
	return n, feeds, first
}

// decodeTargets appends the targets of links.
func decodeTargets(r *reader, dst []schema.ID) []schema.ID {
	n := r.uint() >> 1
	if n > uint64(len(r.b)/2) {
		r.fail()
		return dst
	}
	dst = slices.Grow(dst, int(n))
	b, at, to := r.b, 0, uint64(0)
	for range n {
		if at+1 >= len(b) {
			r.fail()
			return dst
		}
		delta, size := uint64(b[at]), 1
		if delta >= 0x80 {
			delta, size = binary.Uvarint(b[at:])
		}
		at += size
		if to += delta; size <= 0 || to > 1<<32-1 || delta-1 > 1<<32-2 || at >= len(b) { // a delta of 0 repeats the target
			r.fail()
			return dst
		}
		if at++; b[at-1]&linkKinds != 0 {
			_, _, size := decodeKinds(b[at:])
			if size == 0 {
				r.fail()
				return dst
			}
			at += size
		}
		dst = append(dst, schema.ID(to))
	}
	r.b = b[at:]
	return dst
}

// word writes a text that is often one of a few: as its number, or as 0 and the text.
func (w *writer) word(text string) {
	for i, word := range knownWords() {
		if text == word {
			w.number(i + 1)
			return
		}
	}
	w.number(0)
	w.string(text)
}

func (r *reader) word() string {
	words := knownWords()
	n := r.narrow(uint64(len(words)))
	if n == 0 {
		return r.string()
	}
	return words[n-1]
}

// date writes the text of a date header: as a time if that yields the same text, or as 0 and the text.
func (w *writer) date(text string) {
	t, err := time.Parse(httpDate, text)
	if err != nil || t.IsZero() || t.Format(httpDate) != text {
		w.uint(0)
		w.string(text)
		return
	}
	w.seconds(t)
}

func (r *reader) date() string {
	if len(r.b) > 0 && r.b[0] == 0 {
		r.byte()
		return r.text()
	}
	t := r.seconds()
	if r.bad || r.lean {
		return ""
	}
	return t.Format(httpDate)
}
