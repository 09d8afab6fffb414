package exchange

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A post delivers letters from shard 0 to a shard 0 that claims to be the other one.
type post struct {
	t  *testing.T
	to *testShard
	n  int // letters

	before func() // called before a letter is delivered; may be nil
}

func (p *post) Ask(_ context.Context, _ int, text []byte) ([]byte, error) {
	if p.before != nil {
		p.before()
	}
	p.n++
	l, err := decodeLetter(text)
	if err != nil {
		p.t.Error(err)
	}
	l.From, l.To = l.To, l.From
	reply, err := NewReceiver(p.to).Answer(written(l))
	if len(text) > MaxLetter || len(reply) > MaxLetter {
		p.t.Errorf("letters of %d and %d bytes", len(text), len(reply))
	}
	return reply, err
}

// free grants memory for any body.
func free(int64) error { return nil }

// A report of any size arrives complete, in letters that are not too large.
func TestInquire(t *testing.T) {
	const largest = 10 << 20
	body := func(n int) []byte { return bytes.Repeat([]byte{'x', 0, 255, '\n'}, n/4) }
	script := func(header, n int) *ring.Report {
		return &ring.Report{Status: 200, Header: http.Header{"X": {strings.Repeat("<", header)}}, Body: body(n)}
	}
	errandFor := func(r *ring.Report, from, to int) ring.Errand {
		e := ring.Errand{From: from, To: to, Kind: ring.Robots, ID: 5, URL: "https://a.test/r"}
		if r != nil && (r.Header != nil || r.Refused != "") {
			e.Kind, e.Accept = ring.Asset, "application/json"
		}
		return e
	}
	for name, v := range map[string]struct {
		report  *ring.Report
		letters int
	}{
		"none yet":     {nil, 1},
		"a redirect":   {&ring.Report{Status: 302, Location: "https://c.test/robots.txt", Age: time.Hour}, 1},
		"a failure":    {&ring.Report{Cause: schema.CauseTimeout, Detail: "after 10s"}, 1},
		"a small body": {&ring.Report{Status: 200, Body: body(400)}, 1},
		"one piece":    {&ring.Report{Status: 200, Body: body(maxPiece)}, 1},
		"two pieces":   {&ring.Report{Status: 200, Body: body(maxPiece + 4)}, 2},
		"the largest":  {&ring.Report{Status: 200, Body: body(largest)}, 80},
		"a refusal":    {&ring.Report{Refused: "denied by robots.txt"}, 1},
		"a script":     {script(9, 3*maxPiece), 3},
		"a long head":  {script(10_000, maxPiece+4), 2},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := newShard(t), newShard(t)
			to.ready = v.report
			p := &post{t: t, to: to}
			errand := errandFor(v.report, 0, 1)
			r, known, err := Inquire(t.Context(), from, p, errand,
				largest, free)
			if err != nil || known != (v.report != nil) || p.n != v.letters {
				t.Fatalf("%t after %d letters, %v; want %d", known, p.n, err, v.letters)
			}
			if known && !bytes.Equal(r.Body, v.report.Body) {
				t.Errorf("%d bytes came, of %d", len(r.Body), len(v.report.Body))
			}
			r.Body = nil
			want := ring.Report{Behind: "b.test"}
			if v.report != nil {
				want = *v.report
				want.Body = nil
			}
			if !cmp.Equal(r, want, cmpopts.EquateEmpty()) {
				t.Errorf("the report is %+v, want %+v", r, want)
			}
			asked := errandFor(v.report, 1, 0)
			if to.asked[0] != asked {
				t.Errorf("errand %+v, want %+v", to.asked[0], asked)
			}
		})
	}
}

// A body that changes between pieces is not a report.
func TestInquireChanges(t *testing.T) {
	from, to := newShard(t), newShard(t)
	bodies := [][]byte{bytes.Repeat([]byte("a"), 2*maxPiece), bytes.Repeat([]byte("b"), 2*maxPiece)}
	p := &post{t: t, to: to}
	p.before = func() { to.ready = &ring.Report{Status: 200, Body: bodies[min(p.n, 1)]} }
	e := ring.Errand{To: 1, Kind: ring.Asset, URL: "https://a.test/r"}
	if _, known, err := Inquire(t.Context(), from, p, e, 2*maxPiece, free); known || err != nil || p.n != 2 {
		t.Errorf("after %d letters: %t, %v", p.n, known, err)
	}
	r, known, err := Inquire(t.Context(), from, p, e, 2*maxPiece, free)
	if !known || err != nil || !bytes.Equal(r.Body, bodies[1]) {
		t.Errorf("the second time: %t, %v", known, err)
	}
}

// Invalid reports are rejected, however long they continue.
func TestInquireBelieves(t *testing.T) {
	ab := []byte("ab")
	for name, v := range map[string]struct {
		answer answer
		err    error
		known  bool
	}{
		"a report":        {answer{Verdict: done, Report: &report{Status: 200, Piece: ab, Size: 2, Sum: xxh3.Hash(ab)}}, nil, true},
		"another sum":     {answer{Verdict: done, Report: &report{Status: 200, Piece: ab, Size: 2}}, nil, false},
		"refused":         {answer{Verdict: refused}, nil, true},
		"later":           {answer{Verdict: later, Report: &report{}}, nil, false},
		"busy":            {answer{Verdict: busy, Report: &report{}}, nil, false},
		"no report":       {answer{Verdict: done}, nil, false},
		"nothing":         {answer{Verdict: done, Report: &report{}}, ErrNobody, false},
		"too long":        {answer{Verdict: done, Report: &report{Piece: []byte("abc"), Size: 2}}, nil, false},
		"a negative size": {answer{Verdict: done, Report: &report{Size: -1}}, nil, false},
		"too large":       {answer{Verdict: done, Report: &report{Piece: []byte("a"), Size: 11}}, nil, true},
		"an empty piece":  {answer{Verdict: done, Report: &report{Size: 2}}, nil, false},
		"more than said":  {answer{Verdict: done, Report: &report{Piece: []byte("ab"), Size: 3}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			v.answer.Opening = here()
			_, known, err := Inquire(t.Context(), newShard(t), scripted(func(letter) (answer, error) {
				return v.answer, v.err
			}), ring.Errand{To: 1}, 10, free)
			if known != v.known || err != nil {
				t.Errorf("a report: %t, %v; want %t", known, err, v.known)
			}
		})
	}
}

// For an asset, impossible statuses are rejected, as are bodies that arrive in tiny pieces; a body for which
// there is no memory waits for another try.
func TestInquireHostile(t *testing.T) {
	asset := ring.Errand{To: 1, Kind: ring.Asset}
	for _, tt := range []struct {
		status int
		known  bool
	}{{0, false}, {-5, false}, {99999, false}, {100, true}, {999, true}} {
		_, known, err := Inquire(t.Context(), newShard(t), scripted(func(letter) (answer, error) {
			return answer{Verdict: done, Opening: here(), Report: &report{Status: tt.status, Sum: xxh3.Hash(nil)}}, nil
		}), asset, 10, free)
		if known != tt.known || err != nil {
			t.Errorf("status %d is taken: %t, %v", tt.status, known, err)
		}
	}
	n := 0
	drops := scripted(func(letter) (answer, error) {
		n++
		big := &report{Status: 200, Piece: []byte("a"), Size: 10 << 20}
		return answer{Verdict: done, Opening: here(), Report: big}, nil
	})
	if _, known, err := Inquire(t.Context(), newShard(t), drops, asset, 20<<20, free); known || err != nil || n != 1 {
		t.Errorf("a body that drips is taken: %t, %v, after %d letters", known, err, n)
	}
	to := newShard(t)
	to.ready = &ring.Report{Status: 200, Body: make([]byte, 2*maxPiece)}
	p := &post{t: t, to: to}
	full := func(int64) error { return errors.New("no memory") }
	if _, known, err := Inquire(t.Context(), newShard(t), p, asset, 20<<20, full); known || err != nil || p.n != 1 {
		t.Errorf("a body without memory is taken: %t, %v, after %d letters", known, err, p.n)
	}
}
