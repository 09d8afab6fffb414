package serve

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A pageFact holds what pages are filtered by, and most that they are sorted by. It takes 28 bytes.
type pageFact struct {
	visited, response, length uint32 // each one more than its value; 0: none
	links                     uint32
	status                    uint16 // 0: none
	media, failure, kind      uint16 // numbers of words; 0: none
	state                     schema.State
	answer                    schema.Answer
	class                     schema.Class
	depth                     uint8
}

// mostWords limits the words of a column that are told apart: servers choose content types.
const mostWords = 10_000

// wordList numbers the different words of a column from 1.
type wordList struct {
	words   []string
	numbers map[string]uint16
	pages   []int
	ranks   []uint32 // by number, made when all words are known
}

func newWordList() *wordList {
	return &wordList{words: []string{""}, numbers: map[string]uint16{"": 0}, pages: []int{0}}
}

// add returns the number of the word of another page.
func (w *wordList) add(word string) uint16 {
	n, ok := w.numbers[word]
	if !ok {
		if len(w.words) > mostWords {
			return 0
		}
		n = uint16(len(w.words))
		w.words, w.pages, w.numbers[word] = append(w.words, word), append(w.pages, 0), n
	}
	w.pages[n]++
	return n
}

// rank returns the position of a word in the order of all words; 0: it is the empty one.
func (w *wordList) rank(n uint16) uint32 {
	if w.ranks == nil {
		order := make([]uint16, len(w.words))
		for i := range order {
			order[i] = uint16(i)
		}
		slices.SortFunc(order, func(a, b uint16) int { return cmp.Compare(w.words[a], w.words[b]) })
		w.ranks = make([]uint32, len(order))
		for rank, n := range order {
			w.ranks[n] = uint32(rank)
		}
	}
	return w.ranks[n]
}

// frequent returns the words of most pages, at most most of them, in order.
func (w *wordList) frequent(most int) []string {
	order := make([]int, 0, len(w.words))
	for n := 1; n < len(w.words); n++ {
		order = append(order, n)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.pages[b], w.pages[a]) })
	list := []string{}
	for _, n := range order[:min(most, len(order))] {
		list = append(list, w.words[n])
	}
	slices.Sort(list)
	return list
}

// readFacts reads the facts of all pages, once.
func (t *pageTable) readFacts() error {
	if t.facts != nil {
		return nil
	}
	facts := make([]pageFact, t.survey.URLs()+1)
	t.media, t.failures, t.kinds = newWordList(), newWordList(), newWordList()
	var unasked []schema.ID
	err := t.survey.EachSketch(func(p *survey.Page) error {
		if p.Unasked() {
			unasked = append(unasked, p.ID)
		}
		f := pageFact{state: p.State, answer: p.Answer, class: p.Class, depth: p.Depth, links: uint32(p.LinkCount),
			status:  uint16(min(p.Status(), math.MaxUint16)),
			failure: t.failures.add(p.Failure()), kind: t.kinds.add(p.ErrorKind())}
		if v := p.Visit; v != nil {
			f.media, f.length = t.media.add(v.ContentType), above(v.Length)
			if v.Requests > 0 || v.Kept {
				f.visited, f.response = above(v.At.Unix()), above(v.ResponseTime.Milliseconds())
			}
		}
		facts[p.ID] = f
		return nil
	})
	for _, id := range unasked {
		var kind string
		if err == nil {
			kind, err = t.survey.UnaskedKind(t.survey.Hosts.Of(id))
			facts[id].kind = t.kinds.add(kind)
		}
	}
	if err == nil {
		t.facts = facts
	}
	return err
}

// above returns one more than n, which is -1 if there is no value.
func above(n int64) uint32 { return uint32(min(max(n, -1), math.MaxUint32-1) + 1) }

// countIn counts the links to all pages, once.
func (t *pageTable) countIn() error {
	if t.in != nil {
		return nil
	}
	in := make([]uint32, t.survey.URLs()+1)
	err := t.survey.Links.EachTargetWritten(func(_, to schema.ID) { in[to]++ })
	if err == nil {
		t.in = in
	}
	return err
}

// PageChoices are the values that pages can be filtered by, in order; of words the 200 most frequent.
type PageChoices struct {
	StatusCode  []int    `json:"status_code"`
	ContentType []string `json:"content_type"`
	Depth       []string `json:"depth"` // the last may be "none"
	Error       []string `json:"error"`
	ErrorKind   []string `json:"error_kind"`
}

const mostChoices = 200

func (t *pageTable) choices() (*PageChoices, error) {
	if err := errors.Join(t.readPages(), t.readFacts()); err != nil {
		return nil, err
	}
	c := &PageChoices{StatusCode: []int{}, ContentType: t.media.frequent(mostChoices), Depth: []string{},
		Error: t.failures.frequent(mostChoices), ErrorKind: t.kinds.frequent(mostChoices)}
	var depths [kv.NoDepth + 1]bool
	statuses := make([]bool, math.MaxUint16+1)
	for _, id := range t.pages {
		depths[t.facts[id].depth], statuses[t.facts[id].status] = true, true
	}
	for depth, is := range depths {
		switch {
		case is && depth == kv.NoDepth:
			c.Depth = append(c.Depth, noValue)
		case is:
			c.Depth = append(c.Depth, strconv.Itoa(depth))
		}
	}
	for status, is := range statuses {
		if is && status > 0 && len(c.StatusCode) < mostChoices {
			c.StatusCode = append(c.StatusCode, status)
		}
	}
	return c, nil
}
