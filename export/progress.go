package export

// A Progress is told how far a piece of long work has come: at which step it is, and how
// much of that is done; a total of 0 is not known. It is called often and returns at once.
// A nil one is told nothing.
type Progress func(step string, done, total int)

// often is how many pages or links pass between two calls.
const often = 1 << 12

// At tells it.
func (p Progress) At(step string, done, total int) {
	if p != nil {
		p(step, done, total)
	}
}

// Passing tells it now and then, for work that counts up one by one.
func (p Progress) Passing(step string, done, total int) {
	if p != nil && done%often == 0 {
		p(step, done, total)
	}
}
