package export

// A Progress receives the progress of long work: the current step and how much of it is done. A total
// of 0 means unknown. It is called often and must return at once. A nil Progress ignores all calls.
type Progress func(step string, done, total int)

// often is how many pages or links pass between two calls.
const often = 1 << 12

// At reports progress.
func (p Progress) At(step string, done, total int) {
	if p != nil {
		p(step, done, total)
	}
}

// Passing reports progress now and then, for work that counts up one by one.
func (p Progress) Passing(step string, done, total int) {
	if p != nil && done%often == 0 {
		p(step, done, total)
	}
}
