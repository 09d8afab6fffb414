package schema

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
