package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/strictjson"
	"github.com/sumi-ripple/ripple/schema"
)

// A letter goes from one shard to another. Without referrals it is a question: whether the
// receiver's file contains a commit of an opening.
//
// On its way it is a line of JSON, and after that the referrals, of which there may be
// thousands: see packReferral.
type letter struct {
	Terrain       []byte  `json:"terrain"`
	From          int     `json:"from"`
	To            int     `json:"to"`
	Opening       []byte  `json:"opening"` // of the receiver; of a question, the one that is asked about
	Commit        uint64  `json:"commit"`  // of a question
	Run           uint64  `json:"run"`
	Configuration uint64  `json:"configuration"`
	Errand        *errand `json:"errand,omitempty"` // without referrals: what is wanted, or its rest

	Referrals []ring.Referral `json:"-"`
}

// An errand is a [ring.Errand] on its way.
type errand struct {
	ID    uint64 `json:"id"`
	URL   string `json:"url"`
	Asset bool   `json:"asset,omitzero"`
	At    int    `json:"at"` // bytes of the body that have come
}

// A verdict says what has become of a letter.
type verdict string

const (
	contains verdict = "contains" // the file has the commit that was asked about
	lacks    verdict = "lacks"
	done     verdict = "done"    // a commit holds the referrals, or there is a report
	busy     verdict = "busy"    // there is none yet
	moved    verdict = "moved"   // the file was opened anew since
	later    verdict = "later"   // the receiver's run or configuration is behind the letter's, or it does not crawl
	older    verdict = "older"   // it is ahead of the letter's
	refused  verdict = "refused" // it is no letter, or for somebody else
)

// An answer names the receiver's opening and its last commit, with the terrain's numbers as
// it knows them.
type answer struct {
	Verdict       verdict `json:"verdict"`
	Opening       []byte  `json:"opening"`
	Commit        uint64  `json:"commit"`
	Run           uint64  `json:"run"`
	Configuration uint64  `json:"configuration"`
	Report        *report `json:"report,omitempty"`
}

// A report is a piece of a [ring.Report].
type report struct {
	Cause    schema.Cause `json:"cause"`
	Detail   string       `json:"detail"`
	Status   int          `json:"status"`
	Location string       `json:"location"`
	Header   http.Header  `json:"header,omitzero"` // only in the first piece
	Refused  string       `json:"refused,omitzero"`
	Piece    []byte       `json:"piece"` // of the body
	Size     int          `json:"size"`  // of all of it
	Sum      uint64       `json:"sum"`   // its XXH3: another answer has another one
}

// maxPiece is the size of a piece of a body at most, in bytes; in a letter, which has a header of
// up to 64 KB besides, it is a third larger.
const maxPiece = 128 << 10

// text is the letter on its way.
func (l *letter) text() []byte {
	text := append(strictjson.Encode(l), '\n')
	for i := range l.Referrals {
		text = packReferral(text, &l.Referrals[i])
	}
	return text
}

// decodeLetter reads a letter that anybody may have written.
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
