package schema

import (
	"crypto/sha256"
	"fmt"
)

// TableVersion names a table of rules as it is: the date of the newest rule, and a part of the SHA-256 of the table.
func TableVersion[R any](rules []R, date func(R) string) string {
	newest, sum := "", sha256.New()
	for _, r := range rules {
		newest = max(newest, date(r))
		fmt.Fprintf(sum, "%+v\n", r)
	}
	return fmt.Sprintf("%s-%x", newest, sum.Sum(nil)[:4])
}

// An Answer is what a server answered instead of a page.
type Answer uint8

// The answers.
const (
	AnswerPage      Answer = iota // nothing else: a page, or an error that says so
	AnswerChallenge               // a wall: the server wants proof that it answers a browser
	AnswerSoft404                 // what the host answers for any page that does not exist, with a status of success
	AnswerParked                  // an offer to buy the domain

	AnswerCount // the number of answers
)

// Answers returns all answers in order.
func Answers() []Answer { return all(AnswerCount) }

// String returns the answer as written in SQL; empty: a page.
func (a Answer) String() string {
	return [...]string{AnswerChallenge: "challenge", AnswerSoft404: "soft404", AnswerParked: "parked"}[a]
}

// Stored reports whether the visit says so itself. The other answers are derived from the whole run.
func (a Answer) Stored() bool { return a <= AnswerChallenge }
