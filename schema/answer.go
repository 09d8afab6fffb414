package schema

// An Answer is what a server answered instead of a page.
type Answer uint8

// The answers.
const (
	AnswerPage      Answer = iota // nothing else: a page, or an error that says so
	AnswerChallenge               // a wall: the server wants proof that it answers a browser

	AnswerCount // the number of answers
)

// Answers returns all answers in order.
func Answers() []Answer { return all(AnswerCount) }

// String returns the answer as written in SQL; empty: a page.
func (a Answer) String() string {
	if a == AnswerChallenge {
		return "challenge"
	}
	return ""
}
