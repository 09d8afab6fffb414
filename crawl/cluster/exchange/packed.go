package exchange

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// maxOthers is the number of a URL's stored forms that do not follow from its identity.
const maxOthers = schema.MaxOwnForms + schema.MaxForeignForms

// The flags of a packed referral.
const (
	isHTTPS = 1 << iota
	isListed
	hasChanged // a time follows
	isFromOrigin
	hasSitemap // a host follows
	flagsEnd
)

// packReferral appends a referral, without the numbers that its letter has. The fields are: kind, flags,
// depth and hops (bytes); the URL; the shapes of its forms, with the own ones from bit 4 on (byte); the
// number of other forms and of own ones among them (bytes), and each of them; the time of its last change, if
// known (seconds since 1970); the host of its sitemap, if any; and the number of vouchers (byte) and each of
// them. A text begins with its length; numbers are varints.
func packReferral(b []byte, ref *ring.Referral) []byte {
	at := len(b)
	b = append(b, byte(ref.Kind), 0, ref.Told.Depth, ref.Told.Hops)
	b = packText(b, ref.URL)
	var shapes, own schema.Shape
	var others []string
	ownOthers := 0
	for i, form := range ref.Forms {
		switch shape := schema.ShapeOf(ref.URL, form); {
		case shape == schema.ShapeOther && i < ref.Own:
			ownOthers++
			fallthrough
		case shape == schema.ShapeOther:
			others = append(others, form)
		case i < ref.Own:
			own |= shape
			fallthrough
		default:
			shapes |= shape
		}
	}
	b = append(b, byte(shapes|own<<4), byte(len(others)), byte(ownOthers))
	for _, form := range others {
		b = packText(b, form)
	}
	var flags byte
	if ref.HTTPS {
		flags |= isHTTPS
	}
	if ref.Told.Listed {
		flags |= isListed
	}
	if !ref.Told.Changed.IsZero() {
		flags |= hasChanged
		b = binary.AppendVarint(b, ref.Told.Changed.Unix())
	}
	if ref.FromOrigin {
		flags |= isFromOrigin
	}
	if ref.Sitemap != "" {
		flags |= hasSitemap
		b = packText(b, ref.Sitemap)
	}
	b = append(b, byte(len(ref.Vouchers)))
	for _, voucher := range ref.Vouchers {
		b = packText(b, voucher)
	}
	b[at+1] = flags
	return b
}

func packText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// unpackReferrals decodes untrusted referrals of a letter with the given numbers.
func unpackReferrals(b []byte, run, configuration uint64) (all []ring.Referral, err error) {
	for p := (unpacker{b: b}); len(p.b) > 0; {
		ref := p.referral()
		if p.bad {
			return nil, fmt.Errorf("referral %d cannot be read", len(all)+1)
		}
		ref.Told.Run, ref.Told.Configuration = run, configuration
		all = append(all, ref)
	}
	return all, nil
}

// An unpacker reads packed fields. After the first unreadable field it is bad, and returns only zero values.
type unpacker struct {
	b   []byte
	bad bool
}

func (p *unpacker) referral() (ref ring.Referral) {
	ref.Kind = schema.URLKind(p.byte())
	flags := p.byte()
	ref.HTTPS, ref.FromOrigin = flags&isHTTPS != 0, flags&isFromOrigin != 0
	ref.Told = schema.Inbound{Depth: p.byte(), Hops: p.byte(), Listed: flags&isListed != 0}
	ref.URL = p.text()
	p.forms(&ref)
	if flags >= flagsEnd {
		p.fail()
	}
	if flags&hasChanged != 0 {
		seconds, size := binary.Varint(p.b)
		p.skip(size)
		ref.Told.Changed = time.Unix(seconds, 0).UTC()
	}
	if flags&hasSitemap != 0 {
		ref.Sitemap = p.text()
	}
	n := p.byte()
	if n > kv.MaxVouchers {
		p.fail()
	}
	for range n {
		ref.Vouchers = append(ref.Vouchers, p.text())
	}
	return ref
}

// forms reads the forms of a referral.
func (p *unpacker) forms(ref *ring.Referral) {
	shapes, others, own := p.byte(), p.byte(), p.byte()
	if shapes>>4&^shapes != 0 || others > maxOthers || own > others || shapes == 0 && others == 0 {
		p.fail()
		return
	}
	forms := schema.Forms{Norm: ref.URL, Shapes: schema.Shape(shapes & 15), Own: schema.Shape(shapes >> 4)}
	for i := range others {
		text := p.text()
		switch {
		case schema.ShapeOf(ref.URL, text) != schema.ShapeOther:
			p.fail()
		case i < own:
			forms.Others = append(forms.Others, text)
		default:
			forms.Foreign = append(forms.Foreign, text)
		}
	}
	mine, rest := forms.Split()
	ref.Forms, ref.Own = append(mine, rest...), len(mine)
}

func (p *unpacker) fail() { p.b, p.bad = nil, true }

// skip skips a field of the given size; 0 or less: the field is missing.
func (p *unpacker) skip(size int) {
	if size <= 0 {
		p.fail()
		return
	}
	p.b = p.b[size:]
}

func (p *unpacker) byte() (v byte) {
	if len(p.b) > 0 {
		v = p.b[0]
	}
	p.skip(min(len(p.b), 1))
	return v
}

// number reads a number that is at most most.
func (p *unpacker) number(most uint64) uint64 {
	v, size := binary.Uvarint(p.b)
	if v > most {
		v, size = 0, 0
	}
	p.skip(size)
	return v
}

func (p *unpacker) text() string {
	size := p.number(uint64(len(p.b)))
	if size > uint64(len(p.b)) { // the bytes of the size are part of the rest
		p.fail()
		return ""
	}
	text := string(p.b[:size])
	p.b = p.b[size:]
	return text
}
