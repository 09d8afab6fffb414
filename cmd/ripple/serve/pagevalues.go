package serve

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	mostTextBytes = 512 << 20 // of the texts by which pages are sorted
	mostTextKey   = 200       // bytes of each of these texts
	textChunk     = 1 << 20   // bytes of them in one piece of memory
)

// pageValues are the values of a column by which pages are sorted. They contain no pointers, so the
// garbage collector does not look at a million of them.
type pageValues struct {
	column *pageColumn
	all    []pageValue
	texts  [][]byte // of all values: chunks, which do not move when others are added
}

// A pageValue is the value of a column for a page: a number, or a text.
type pageValue struct {
	head uint64 // the number, or eight bytes of the text, the first ones at first
	rank uint32 // of the text among texts that begin before it
	text uint32 // where it begins: its chunk and the position there
	id   uint32
	size uint8 // of the text
}

// These do not compile if the texts have outgrown the fields of a pageValue.
const (
	_ = uint8(mostTextKey)
	_ = uint32(mostTextBytes + textChunk)
)

// number adds the number of a page.
func (vs *pageValues) number(id schema.ID, number int64) {
	vs.all = append(vs.all, pageValue{head: uint64(number) ^ 1<<63, id: uint32(id)})
}

// add adds the text of a page. Texts are ordered by rank first.
func (vs *pageValues) add(id schema.ID, rank uint32, text string) error {
	text = text[:min(len(text), mostTextKey)]
	last := len(vs.texts) - 1
	if last < 0 || len(vs.texts[last])+len(text) >= textChunk {
		if last++; last*textChunk >= mostTextBytes {
			return term.Usage("there are too many pages to sort them by %s", vs.column.Title)
		}
		vs.texts = append(vs.texts, make([]byte, 0, textChunk))
	}
	v := pageValue{rank: rank, text: uint32(last*textChunk + len(vs.texts[last])), id: uint32(id), size: uint8(len(text))}
	vs.texts[last] = append(vs.texts[last], text...)
	v.head = vs.part(v, 0)
	vs.all = append(vs.all, v)
	return nil
}

// part returns eight bytes of a text from a position on, as a number that is ordered like them.
func (vs *pageValues) part(v pageValue, at int) uint64 {
	var part [8]byte
	if at < int(v.size) {
		copy(part[:], vs.textOf(v)[at:])
	}
	return binary.BigEndian.Uint64(part[:])
}

// textOf returns the text of a value; a number has none.
func (vs *pageValues) textOf(v pageValue) []byte {
	if v.size == 0 {
		return nil
	}
	return vs.texts[v.text/textChunk][v.text%textChunk:][:v.size]
}

func (vs *pageValues) compare(v, w pageValue) int {
	return cmp.Or(cmp.Compare(v.rank, w.rank), cmp.Compare(v.head, w.head),
		bytes.Compare(vs.textOf(v), vs.textOf(w)), cmp.Compare(v.id, w.id))
}

// samples is the number of values whose median divides all values into two parts.
const samples = 1001

// sorted returns the pages in the order of their values. Two parts are sorted at the same time.
func (vs *pageValues) sorted() []uint32 {
	cut := 0
	if len(vs.all) > 2*samples {
		some := make([]pageValue, samples)
		for i := range some {
			some[i] = vs.all[i*(len(vs.all)/samples)]
		}
		slices.SortFunc(some, vs.compare)
		for i, v := range vs.all {
			if vs.compare(v, some[samples/2]) < 0 {
				vs.all[i], vs.all[cut] = vs.all[cut], v
				cut++
			}
		}
	}
	var parts errgroup.Group
	for _, part := range [][]pageValue{vs.all[:cut], vs.all[cut:]} {
		parts.Go(func() error {
			vs.sort(part, 0)
			return nil
		})
	}
	_ = parts.Wait()
	ids := make([]uint32, len(vs.all))
	for i, v := range vs.all {
		ids[i] = v.id
	}
	return ids
}

// sort sorts values that have the same text before a position, where their heads begin. It reads a
// text once for every eight bytes, not with every comparison, since texts are seldom in the cache.
func (vs *pageValues) sort(values []pageValue, at int) {
	slices.SortFunc(values, func(v, w pageValue) int {
		switch {
		case v.rank != w.rank:
			return cmp.Compare(v.rank, w.rank)
		case v.head != w.head:
			return cmp.Compare(v.head, w.head)
		case max(int(v.size), int(w.size)) <= at+8 && v.size != w.size:
			return cmp.Compare(v.size, w.size) // a zero byte is more than none
		}
		return cmp.Compare(v.id, w.id)
	})
	for at += 8; len(values) > 0; {
		same, longer := 0, 0
		for same < len(values) && values[same].rank == values[0].rank && values[same].head == values[0].head {
			if int(values[same].size) > at {
				longer++
			}
			same++
		}
		if longer > 0 && same > 1 {
			for i := range values[:same] {
				values[i].head = vs.part(values[i], at)
			}
			vs.sort(values[:same], at)
		}
		values = values[same:]
	}
}

// byValue sorts pages by the values of a column, which it reads for every page. Those without a value
// are returned apart.
func (t *pageTable) byValue(c *pageColumn) (sorted, rest []uint32, err error) {
	vs := &pageValues{column: c, all: make([]pageValue, 0, len(t.pages))}
	switch {
	case c.Name == "url":
		err = t.readURLs(vs)
	case c.Name == "title":
		err = t.readTitles(vs)
	case c.near:
		err = t.survey.EachPlace(func(p *survey.Page) error { return vs.addOf(t, p) })
	default:
		err = t.survey.EachPage(func(p *survey.Page) error { return vs.addOf(t, p) })
	}
	if err != nil {
		return nil, nil, err
	}
	if len(vs.all) < len(t.pages) {
		known := make([]bool, t.survey.URLs()+1)
		for _, v := range vs.all {
			known[v.id] = true
		}
		for _, id := range t.pages {
			if !known[id] {
				rest = append(rest, id)
			}
		}
	}
	return vs.sorted(), rest, nil
}

// addOf adds the value that the column has for a page.
func (vs *pageValues) addOf(t *pageTable, p *survey.Page) error {
	switch v := vs.column.of(t, p).(type) {
	case int64:
		vs.number(p.ID, v)
	case string:
		return vs.add(p.ID, 0, v)
	}
	return nil
}

// readURLs adds the URLs of all pages: by host, then by path, which is the same order, found faster.
func (t *pageTable) readURLs(vs *pageValues) error {
	ranks, err := t.hostRanks()
	if err != nil {
		return err
	}
	return t.survey.EachURL(func(u schema.URL) error { return vs.add(u.ID, ranks[u.Host], u.PathQuery) })
}

// readTitles adds the titles of all pages.
func (t *pageTable) readTitles(vs *pageValues) error {
	var visit schema.Visit
	page := survey.Page{Visit: &visit}
	return t.survey.EachTitle(func(id schema.ID, title string) error {
		page.ID, visit.Title = id, title
		return vs.addOf(t, &page)
	})
}

// hostRanks returns the positions of hosts in the order of the URLs of their pages.
func (t *pageTable) hostRanks() ([]uint32, error) {
	names := make([]string, t.survey.Hosts.Count()+1)
	order := make([]int, len(names))
	for id := range names {
		if order[id] = id; id == 0 {
			continue
		}
		name, err := t.survey.Hosts.Name(schema.HostID(id))
		if err != nil {
			return nil, err
		}
		names[id] = name + "/"
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	ranks := make([]uint32, len(names))
	for rank, id := range order {
		ranks[id] = uint32(rank)
	}
	return ranks, nil
}
