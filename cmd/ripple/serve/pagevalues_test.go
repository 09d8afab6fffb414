package serve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// Texts are sorted by rank, then as strings, and numbers as numbers; equal ones by id. Texts may
// be empty, contain any byte, and be longer than what they are sorted by.
func TestPageValuesSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = "\x00\x01a\xff"[random.IntN(4)]
		}
		return string(b)
	}
	type value struct {
		id, rank uint32
		number   int64
		text     string
	}
	for name, invent := range map[string]func(v *value){
		"short texts":   func(v *value) { v.text = text(3) },
		"one text":      func(v *value) { v.text = "one text that all pages have" },
		"long texts":    func(v *value) { v.rank, v.text = uint32(random.IntN(3)), text(3*mostTextKey) },
		"long starts":   func(v *value) { v.text = strings.Repeat("same", random.IntN(60)) + text(20) },
		"numbers":       func(v *value) { v.number = int64(random.IntN(50)) - 25 },
		"great numbers": func(v *value) { v.number = []int64{math.MinInt64, -1, 0, math.MaxInt64}[random.IntN(4)] },
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 3, 300, 10 * samples} {
				vs, all := &pageValues{}, make([]value, n)
				for i := range all {
					all[i].id = uint32(i + 1)
					invent(&all[i])
					if strings.HasSuffix(name, "numbers") {
						vs.number(schema.ID(i+1), all[i].number)
					} else if err := vs.add(schema.ID(i+1), all[i].rank, all[i].text); err != nil {
						t.Fatal(err)
					}
				}
				slices.SortFunc(all, func(a, b value) int {
					cut := func(s string) string { return s[:min(len(s), mostTextKey)] }
					return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number),
						cmp.Compare(cut(a.text), cut(b.text)), cmp.Compare(a.id, b.id))
				})
				got := vs.sorted()
				for i := range all {
					if got[i] != all[i].id {
						t.Fatalf("of %d values, number %d is %d, want %d", n, i, got[i], all[i].id)
					}
				}
			}
		})
	}
}
