package scaletest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// words makes texts up.
type words struct {
	rand *rand.Rand
	all  []string
}

func newWords(r *rand.Rand) words {
	syllables := strings.Fields("al ber dor en fell gar hol in ker lund mer nor os per quin ros sal tor ul ven wick yar")
	w := words{rand: r}
	for range 4000 {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		w.all = append(w.all, b.String())
	}
	return w
}

// zipf returns a number below n, small ones more often: i with a chance of about 1/(i+1).
func (w *words) zipf(n int) int {
	return min(int(math.Exp(w.rand.Float64()*math.Log(float64(n+1))))-1, n-1)
}

func (w *words) chance(p float64) bool { return w.rand.Float64() < p }

func (w *words) word() string { return w.all[w.zipf(len(w.all))] }

// text is a few words, at least one and most often about n.
func (w *words) text(n int) string {
	var b strings.Builder
	for i := range 1 + w.rand.IntN(2*n-1) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word())
	}
	return b.String()
}

// path is the path of the n-th page of a host, which no other has; that of the first
// is its front page. Some have a query.
func (w *words) path(n int) string {
	if n == 0 {
		return "/"
	}
	var b strings.Builder
	for range w.rand.IntN(4) {
		b.WriteByte('/')
		b.WriteString(w.word())
	}
	if w.chance(0.1) {
		fmt.Fprintf(&b, "/%s?id=%d", w.word(), n)
		return b.String()
	}
	fmt.Fprintf(&b, "/%s-%s-%d", w.word(), w.word(), n)
	if w.chance(0.3) {
		b.WriteString(".html")
	}
	return b.String()
}
