// Package feed returns the visits of a state file one after the other as lines of JSON, for programs
// that process pages as they arrive.
//
// A line is a visit of a page, in commit order, with a cursor. A reader that passes the cursor of the
// last line it has processed sees every line exactly once, over any number of restarts and runs.
// Sitemap files have no lines, but their visits count, so cursors have gaps. What imports read has neither.
//
// Lines are read in batches limited in bytes and in time, because a crawl serves them between two
// commits.
package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// ErrCursor reports a cursor that the state file has not reached: it is from another file, or the crawl
// was restarted from scratch.
var ErrCursor = errors.New("the cursor is beyond the last visit: it is of another state")

// Newest is a cursor after the last visit: only later visits are returned.
const Newest = math.MaxUint64

const (
	batchBytes = 2 << 20
	batchTime  = 50 * time.Millisecond
	maxLinks   = 4 << 20 // maximum bytes of links in one line
)

// A Batch is a sequence of lines and the cursor after them.
type Batch struct {
	Lines []json.RawMessage `json:"lines"`
	Next  uint64            `json:"next"`
	More  bool              `json:"more"` // there are further visits

	Omitted uint64 `json:"omitted,omitempty"` // visits before the lines that have no line
}

// A line is one visit: the fields of a discovery record, and Ripple's additions.
type line struct {
	Cursor   uint64   `json:"cursor"`
	Run      int      `json:"run"`
	URL      string   `json:"url"`
	PageType *string  `json:"page_type"` // null: none
	Depth    *int     `json:"depth"`     // the smallest known now; null: not found in the newest run
	Referrer *string  `json:"referrer"`  // null: a seed
	State    string   `json:"state"`
	Kept     bool     `json:"kept,omitempty"` // no request was made: the previous visit is current
	Visited  string   `json:"visited_at"`
	Error    string   `json:"error_message,omitempty"`
	Answer   string   `json:"answer,omitempty"` // what came instead of a page
	Rule     string   `json:"answer_rule,omitempty"`
	Code     int      `json:"answer_status_code,omitempty"` // of a wall, if the rest is what an earlier visit found
	Redirect *string  `json:"redirect_to,omitempty"`
	Metadata metadata `json:"metadata"`
	Links    []link   `json:"links,omitzero"`
	Omitted  int      `json:"links_omitted,omitempty"` // links beyond the limit of a line, or not recorded
}

type metadata struct {
	StatusCode    int    `json:"status_code"`
	ContentLength int64  `json:"content_length"` // -1: no body was read
	LatencyMS     int64  `json:"latency_ms"`
	Title         string `json:"title,omitempty"`
	ContentType   string `json:"content_type,omitempty"`
}

type link struct {
	URL    string `json:"url"`
	Kind   string `json:"kind"`
	Rel    string `json:"rel,omitempty"`
	Place  string `json:"place"`
	Anchor string `json:"anchor,omitempty"`
}

// A Judge returns what a server answered to a visit instead of a page, and the rule that recognised it.
type Judge func(*kv.Tx, *schema.Visit) (schema.Answer, string, error)

// Read returns the lines of visits after a cursor; 0 is before the first. judge adds the answers that are derived from
// a whole run, as [survey.Survey.AnswerTo] does; nil: while a crawl runs, only walls are known.
func Read(store *kv.Store, t *scope.Scope, cursor uint64, judge Judge) (*Batch, error) {
	return read(store, t, cursor, &reader{judge: judge})
}

// ReadBrief is like Read, but lines have no links. If there are more than most visits, only the last
// ones have lines; most = 0 means no limit.
func ReadBrief(store *kv.Store, t *scope.Scope, cursor, most uint64, judge Judge) (*Batch, error) {
	return read(store, t, cursor, &reader{brief: true, most: most, judge: judge})
}

func read(store *kv.Store, t *scope.Scope, cursor uint64, r *reader) (*Batch, error) {
	r.store, r.scope, r.batch = store, t, &Batch{Lines: []json.RawMessage{}, Next: cursor}
	err := store.View(func(tx *kv.Tx) error {
		last := uint64(store.LastSeq())
		last -= store.Imports().UpTo(schema.Seq(last))
		cursors, err := cursorsOf(tx, schema.Seq(last))
		if err != nil {
			return err
		}
		r.tx, r.cursors = tx, cursors
		newest := cursors.base + last
		if cursor == Newest {
			cursor = newest
			r.batch.Next = cursor
		}
		if cursor > newest {
			return fmt.Errorf("%w (%d of %d)", ErrCursor, cursor, newest)
		}
		from := cursors.upTo(cursor)
		if r.most > 0 && last-from > r.most {
			r.batch.Omitted = last - r.most - from
			from = last - r.most
		}
		return r.read(from+1, last)
	})
	return r.batch, err
}

type reader struct {
	store   *kv.Store
	scope   *scope.Scope
	tx      *kv.Tx
	cursors cursors
	cursor  uint64 // of the last visit read
	batch   *Batch
	judge   Judge  // nil: only walls are known
	brief   bool   // without links
	most    uint64 // number of visits; 0: all
	size    int
}

// read adds the lines of visits until the batch is full. The visits are counted without those of imports.
func (r *reader) read(from, last uint64) error {
	begun, imports := time.Now(), r.store.Imports()
	r.cursor = r.cursors.of(from - 1)
	for n := from; n <= last; n++ {
		if r.size >= batchBytes || n > from && time.Since(begun) > batchTime {
			r.batch.More = true
			return nil
		}
		v, err := r.tx.Visits.At(imports.Other(n))
		if err != nil {
			return err
		}
		r.cursor = r.cursors.next(n, r.cursor)
		if r.store.Kind(v.URL) == schema.KindPage {
			if err := r.add(v); err != nil {
				return err
			}
		}
		r.batch.Next = r.cursor
	}
	return nil
}

func (r *reader) add(v *schema.Visit) error {
	l, err := r.line(v)
	if err != nil {
		return err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	r.batch.Lines = append(r.batch.Lines, text)
	r.size += len(text)
	return nil
}

func (r *reader) line(v *schema.Visit) (*line, error) {
	u, err := r.tx.URLs.At(v.URL)
	if err != nil {
		return nil, err
	}
	host, err := r.tx.Hosts.Name(u.Host)
	if err != nil {
		return nil, err
	}
	l := &line{
		Cursor: r.cursor, Run: int(v.Run), URL: "https://" + host + u.PathQuery, State: v.State.String(),
		Kept:    v.Kept,
		Visited: v.At.UTC().Format(time.RFC3339), Error: v.Reason.String(),
		Metadata: metadata{v.Status, v.Length, v.ResponseTime.Milliseconds(), v.Title, v.ContentType},
	}
	answer, rule := v.Answer, v.AnswerRule
	if r.judge != nil {
		if answer, rule, err = r.judge(r.tx, v); err != nil {
			return nil, err
		}
	}
	l.Answer, l.Rule, l.Code = answer.String(), rule, v.AnswerStatus
	if name, _, _, ok := r.scope.PageType(host, u.PathQuery); ok {
		l.PageType = &name
	}
	if depth, _ := r.store.Depth(v.URL); depth != kv.NoDepth {
		d := int(depth)
		l.Depth = &d
	}
	if l.Referrer, err = r.norm(u.Referrer); err != nil {
		return nil, err
	}
	if l.Redirect, err = r.norm(v.RedirectTo); err != nil {
		return nil, err
	}
	if r.brief {
		return l, nil
	}
	return l, r.links(l, v)
}

func (r *reader) norm(id schema.ID) (*string, error) {
	if id == 0 || r.store.Kind(id) != schema.KindPage {
		return nil, nil
	}
	norm, err := r.tx.URLs.Norm(id)
	return &norm, err
}

// links adds the current links, up to the limit of a line.
func (r *reader) links(l *line, v *schema.Visit) error {
	l.Links = []link{}
	if v.Stand != 0 {
		from, err := r.tx.Visits.At(v.Stand)
		if err != nil {
			return err
		}
		if from.URL != v.URL {
			return kv.OfAnother(from.Seq, v.URL)
		}
		v = from
	}
	if err := r.tx.Visits.Anchors(v); err != nil {
		return err
	}
	l.Omitted = max(0, v.Distinct-len(v.Links)) + v.Refused
	size := 0
	for i, from := range v.Links {
		norm, err := r.tx.URLs.Norm(from.To)
		if err != nil {
			return err
		}
		if size += inJSON(norm) + inJSON(from.Anchor) + 80; size > maxLinks {
			l.Omitted += len(v.Links) - i
			return nil
		}
		l.Links = append(l.Links, link{norm, from.Kinds.First().String(), from.Rel.String(), from.Where(), from.Anchor})
	}
	return nil
}

// inJSON returns the maximum length in JSON of a text without control characters.
func inJSON(s string) int {
	n := len(s)
	for i := range len(s) {
		if strings.IndexByte("<>&\"\\", s[i]) >= 0 {
			n += len(`\u0026`) - 1
		}
	}
	return n
}
