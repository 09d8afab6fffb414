package survey

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// blockLinks and blockPages bound the links that EachLink holds at a time: the
// anchors of a block are read in the order in which they were written.
const (
	blockLinks = 1 << 18
	blockPages = 1 << 13
)

// EachLink calls f for the links that stand, with their anchors: by the page that
// links, then by target, with the first and the last run that saw the link. An
// error of f ends it.
func (s *Survey) EachLink(f func(from schema.ID, link schema.Link, first, last schema.RunID) error) error {
	return s.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= s.URLs(); {
			var block []linking
			var err error
			if block, id, err = s.nextBlock(tx, id); err != nil {
				return err
			}
			for _, l := range block {
				for i, link := range l.visit.Links {
					if err := f(l.page, link, s.kept(l.first[i]), s.kept(l.last)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// A linking is a page with the visit that holds the links that stand.
type linking struct {
	page  schema.ID
	visit *schema.Visit
	first []schema.RunID // by link: the first run that saw it
	last  schema.RunID
}

// nextBlock reads the links that stand on some pages from an id on, and returns the
// id after the last of them.
func (s *Survey) nextBlock(tx *kv.Tx, id schema.ID) ([]linking, schema.ID, error) {
	var block []linking
	links := 0
	for ; int(id) <= s.URLs() && links < blockLinks && len(block) < blockPages; id++ {
		if s.latest(id) == 0 || s.store.Kind(id) != schema.KindPage {
			continue
		}
		l, err := s.linking(tx, id)
		if err != nil {
			return nil, 0, err
		}
		if n := len(l.visit.Links); n > 0 {
			links += n
			block = append(block, l)
		}
	}
	written := make([]*schema.Visit, len(block))
	for i := range block {
		written[i] = block[i].visit
	}
	slices.SortFunc(written, func(a, b *schema.Visit) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, v := range written {
		if err := tx.Anchors(v); err != nil {
			return nil, 0, err
		}
	}
	return block, id, nil
}

// linking reads the visit that holds the links of a page, without anchors.
func (s *Survey) linking(tx *kv.Tx, id schema.ID) (linking, error) {
	v, err := tx.Visit(s.latest(id))
	if err != nil {
		return linking{}, err
	}
	l := linking{page: id, visit: v, last: v.Run}
	prev := v.Prev
	if v.Stand != 0 {
		if l.visit, err = tx.Visit(v.Stand); err != nil {
			return l, err
		}
	}
	l.first = make([]schema.RunID, len(l.visit.Links))
	for i := range l.first {
		l.first[i] = l.visit.Run
	}
	return l, s.lookBack(tx, &l, prev)
}

// lookBack finds the first run that saw each link of a page, in the visits from
// prev back.
func (s *Survey) lookBack(tx *kv.Tx, l *linking, prev schema.Seq) error {
	for prev != 0 && len(l.first) > 0 {
		v, err := tx.Visit(prev)
		if err != nil {
			return err
		}
		for i, j := 0, 0; i < len(l.visit.Links) && j < len(v.Links); {
			switch a, b := l.visit.Links[i].To, v.Links[j].To; {
			case a < b:
				i++
			case a > b:
				j++
			default:
				l.first[i] = min(l.first[i], v.Run)
				i, j = i+1, j+1
			}
		}
		prev = v.Prev
	}
	return nil
}

// Out returns the links of a page that stand, with their anchors.
func (s *Survey) Out(id schema.ID) ([]schema.Link, error) {
	if s.latest(id) == 0 || !s.isPage(id) {
		return nil, nil
	}
	var links []schema.Link
	err := s.view(func(tx *kv.Tx) error {
		v, err := s.anchored(tx, id)
		if err == nil {
			links = v.Links
		}
		return err
	})
	return links, err
}

// anchored returns the visit that holds the links of a page, with their anchors.
func (s *Survey) anchored(tx *kv.Tx, id schema.ID) (*schema.Visit, error) {
	v, err := tx.Visit(s.latest(id))
	if err == nil && v.Stand != 0 {
		v, err = tx.Visit(v.Stand)
	}
	if err != nil {
		return nil, err
	}
	return v, tx.Anchors(v)
}

// A Backlink is a link to a page.
type Backlink struct {
	From schema.ID
	Link schema.Link
}

// In returns the links to a page that stand: the first limit of them by the page
// that links, with their anchors, and their number. It reads the links of all pages.
func (s *Survey) In(id schema.ID, limit int) (links []Backlink, total int, err error) {
	err = s.view(func(tx *kv.Tx) error {
		var buf []schema.Link
		for from := schema.ID(1); int(from) <= s.URLs(); from++ {
			seq := s.latest(from)
			if seq == 0 || s.store.Kind(from) != schema.KindPage {
				continue
			}
			var err error
			if buf, err = s.appendLinks(tx, buf[:0], seq); err != nil {
				return err
			}
			if _, ok := linkTo(buf, id); !ok {
				continue
			}
			total++
			if len(links) >= limit {
				continue
			}
			v, err := s.anchored(tx, from)
			if err != nil {
				return err
			}
			link, _ := linkTo(v.Links, id)
			links = append(links, Backlink{from, link})
		}
		return nil
	})
	return links, total, err
}

// appendLinks appends the links that stand after a visit, without anchors.
func (s *Survey) appendLinks(tx *kv.Tx, dst []schema.Link, seq schema.Seq) ([]schema.Link, error) {
	n := len(dst)
	dst, err := tx.AppendLinks(dst, seq)
	if err != nil || len(dst) > n {
		return dst, err
	}
	v, err := tx.Visit(seq) // without links of its own: small
	if err != nil || v.Stand == 0 {
		return dst, err
	}
	return tx.AppendLinks(dst, v.Stand)
}

// linkTo finds a link among links sorted by target.
func linkTo(links []schema.Link, to schema.ID) (schema.Link, bool) {
	i, ok := slices.BinarySearchFunc(links, to, func(l schema.Link, to schema.ID) int { return cmp.Compare(l.To, to) })
	if !ok {
		return schema.Link{}, false
	}
	return links[i], true
}

// EachTarget calls f for the links that stand, by the page that links, without
// what else is known of them: much cheaper than [Survey.EachLink].
func (s *Survey) EachTarget(f func(from, to schema.ID)) error {
	return s.view(func(tx *kv.Tx) error {
		var buf []schema.Link
		for from := schema.ID(1); int(from) <= s.URLs(); from++ {
			seq := s.latest(from)
			if seq == 0 || s.store.Kind(from) != schema.KindPage {
				continue
			}
			var err error
			if buf, err = s.appendLinks(tx, buf[:0], seq); err != nil {
				return err
			}
			for i := range buf {
				f(from, buf[i].To)
			}
		}
		return nil
	})
}
