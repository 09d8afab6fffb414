package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A letter goes from one shard to another. Without referrals it is a question: does the receiver's file
// contain a commit of an opening?
//
// Its encoding is a line of JSON followed by the referrals, which may number thousands: see packReferral.
type letter struct {
	Terrain       []byte  `json:"terrain"`
	From          int     `json:"from"`
	To            int     `json:"to"`
	Opening       []byte  `json:"opening"` // of the receiver; in a question, the opening asked about
	Commit        uint64  `json:"commit"`  // in a question
	Run           uint64  `json:"run"`
	Configuration uint64  `json:"configuration"`
	Errand        *errand `json:"errand,omitempty"` // without referrals: an errand, or the rest of its report

	Referrals []ring.Referral `json:"-"`
}

// An errand is the encoding of a [ring.Errand].
type errand struct {
	ID     uint64 `json:"id"`
	URL    string `json:"url"`
	Asset  bool   `json:"asset,omitzero"`
	Accept string `json:"accept,omitzero"` // of an asset: the value of Accept
	At     int    `json:"at"`              // bytes of the body received so far
}

// A verdict is the result of a letter.
type verdict string

const (
	contains verdict = "contains" // the file has the commit asked about
	lacks    verdict = "lacks"
	done     verdict = "done"    // a commit contains the referrals, or there is a report
	busy     verdict = "busy"    // there is no report yet
	moved    verdict = "moved"   // the file has been reopened since
	later    verdict = "later"   // the receiver's run or configuration is behind the letter's, or it is not crawling
	older    verdict = "older"   // the receiver is ahead of the letter
	refused  verdict = "refused" // not a letter, or for another shard
)

// An answer names the receiver's opening and its last commit, with the terrain's numbers as the receiver
// knows them.
type answer struct {
	Verdict       verdict `json:"verdict"`
	Opening       []byte  `json:"opening"`
	Commit        uint64  `json:"commit"`
	Run           uint64  `json:"run"`
	Configuration uint64  `json:"configuration"`
	Report        *report `json:"report,omitempty"`
	Behind        string  `json:"behind,omitzero"` // of busy: the host whose robots.txt the request waits for
}

// A report is a piece of a [ring.Report].
type report struct {
	Cause    schema.Cause `json:"cause"`
	Detail   string       `json:"detail"`
	Status   int          `json:"status"`
	Location string       `json:"location"`
	Header   http.Header  `json:"header,omitzero"` // only in the first piece
	Refused  string       `json:"refused,omitzero"`
	Piece    []byte       `json:"piece"`        // of the body
	Size     int          `json:"size"`         // of the whole body
	Sum      uint64       `json:"sum"`          // its XXH3, to tell answers apart
	Age      int64        `json:"age,omitzero"` // in ms
}

// maxPiece is the maximum size of a piece of a body, in bytes. In a letter, which may also have a header of
// up to 64 KB, it takes a third more.
const maxPiece = 128 << 10

// text returns the encoded letter.
func (l *letter) text() []byte {
	text := append(strictjson.Encode(l), '\n')
	for i := range l.Referrals {
		text = packReferral(text, &l.Referrals[i])
	}
	return text
}

// decodeLetter decodes an untrusted letter.
func decodeLetter(text []byte) (l letter, err error) {
	if len(text) > MaxLetter {
		return l, fmt.Errorf("letter of %d bytes", len(text))
	}
	head, rest, _ := bytes.Cut(text, []byte{'\n'})
	if err := strictjson.Decode(head, &l); err != nil {
		return l, fmt.Errorf("letter: %w", err)
	}
	if len(l.Terrain) != 16 || len(l.Opening) != 16 {
		return l, errors.New("letter: terrain or opening of a wrong length")
	}
	if l.Errand != nil && len(rest) > 0 {
		return l, errors.New("letter: referrals with an errand")
	}
	if l.Referrals, err = unpackReferrals(rest, l.Run, l.Configuration); err != nil {
		return l, fmt.Errorf("letter: %w", err)
	}
	return l, nil
}

func decodeAnswer(text []byte) (a answer, err error) {
	if len(text) > MaxLetter {
		return a, fmt.Errorf("answer of %d bytes", len(text))
	}
	if err := strictjson.Decode(text, &a); err != nil {
		return a, fmt.Errorf("answer: %w", err)
	}
	if len(a.Opening) != 16 && a.Verdict != refused {
		return a, errors.New("answer: opening of a wrong length")
	}
	return a, nil
}
