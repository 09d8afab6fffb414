package survey

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Digest returns the SHA-256, in hex, of the canonical graph: the pages by URL, each with its
// state, status, body hash, depths per origin, and its links by target URL.
//
// The digest contains no ids, no times and nothing else that depends on the order of visits, so two
// crawls of the same web have the same digest. A page that was not sent again because it is
// unchanged counts with its last full answer.
func Digest(s *Survey) (string, error) {
	d := &digester{leaves: make([][sha256.Size]byte, s.core.urls()+1)}
	for _, step := range []func(*Survey) error{d.rankPages, d.readPages, d.readLinks} {
		if err := step(s); err != nil {
			return "", err
		}
	}
	return d.sum(), nil
}

// A digester has one hash for each page. A link names its target by rank. That is as specific as
// the URL, since all URLs are part of the digest.
type digester struct {
	sorted []schema.ID // the pages by URL
	rank   []uint32    // by id: position in sorted
	leaves [][sha256.Size]byte
	buf    []byte
}

func (d *digester) rankPages(s *Survey) error {
	var names names
	err := s.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= s.core.urls(); id++ {
			if s.core.store.Kind(id) != schema.KindPage {
				names.add("")
				continue
			}
			unmet, err := s.pages.sights.unmet(tx, id)
			if err != nil {
				return err
			}
			if unmet {
				names.add("")
				continue
			}
			norm, err := tx.URLs.Norm(id)
			if err != nil {
				return err
			}
			names.add(norm)
			d.sorted = append(d.sorted, id)
		}
		return nil
	})
	slices.SortFunc(d.sorted, func(a, b schema.ID) int { return bytes.Compare(names.of(a), names.of(b)) })
	d.rank = make([]uint32, s.core.urls()+1)
	for i, id := range d.sorted {
		d.rank[id] = uint32(i)
	}
	return err
}

// names holds the URLs of the ids from 1 on, without an allocation for each.
type names struct {
	text []byte
	ends []int
}

func (n *names) add(norm string) {
	n.text = append(n.text, norm...)
	n.ends = append(n.ends, len(n.text))
}

func (n *names) of(id schema.ID) []byte {
	start := 0
	if id > 1 {
		start = n.ends[id-2]
	}
	return n.text[start:n.ends[id-1]]
}

func (d *digester) readPages(s *Survey) error {
	depths, err := s.walks.originDepths()
	if err != nil {
		return err
	}
	return s.pages.each(1, func(p *Page) error {
		status, err := standingStatus(s, p)
		if err != nil {
			return err
		}
		d.buf = appendText(d.buf[:0], p.URL)
		d.buf = appendText(d.buf, p.State.String())
		d.buf = binary.AppendUvarint(d.buf, uint64(status))
		if p.Visit != nil {
			d.buf = append(d.buf, p.Visit.SHA256[:]...)
		}
		for origin, depth := range depths.Of(p.ID) {
			d.buf = binary.AppendUvarint(d.buf, uint64(origin)+1)
			d.buf = append(d.buf, depth)
		}
		d.leaves[p.ID] = sha256.Sum256(d.buf)
		return nil
	})
}

// standingStatus returns the status that came with the current body.
func standingStatus(s *Survey, p *Page) (int, error) {
	if p.Visit == nil {
		return 0, nil
	}
	if p.Visit.Stand == 0 {
		return p.Visit.Status, nil
	}
	from, err := s.core.tx.Visits.At(p.Visit.Stand)
	if err != nil {
		return 0, err
	}
	return from.Status, nil
}

func (d *digester) readLinks(s *Survey) error {
	var links []schema.Link
	page := schema.ID(0)
	err := s.Links.each(s.Links.all, func(from schema.ID, link schema.Link, _, _ schema.RunID) error {
		if from != page {
			d.addLinks(page, links)
			page, links = from, links[:0]
		}
		links = append(links, link)
		return nil
	})
	d.addLinks(page, links)
	return err
}

// addLinks adds the links of a page to its hash.
func (d *digester) addLinks(page schema.ID, links []schema.Link) {
	if page == 0 {
		return
	}
	slices.SortFunc(links, func(a, b schema.Link) int { return cmp.Compare(d.rank[a.To], d.rank[b.To]) })
	d.buf = append(d.buf[:0], d.leaves[page][:]...)
	for _, l := range links {
		d.buf = binary.AppendUvarint(d.buf, uint64(d.rank[l.To]))
		d.buf = binary.AppendUvarint(d.buf, uint64(l.Kinds))
		d.buf = append(d.buf, byte(l.Rel), byte(l.Place))
		d.buf = appendText(d.buf, l.Anchor)
	}
	d.leaves[page] = sha256.Sum256(d.buf)
}

func (d *digester) sum() string {
	h := sha256.New()
	for _, id := range d.sorted {
		h.Write(d.leaves[id][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
