package schema

import (
	"math"
	"slices"
)

// Knew reports whether an earlier run was in the state file when r began. An import may have joined it later.
func (r *Run) Knew(earlier *Run) bool {
	return earlier.ID < r.ID && (earlier.Kind != RunImport || r.Kind == RunImport || earlier.Joined < r.ID)
}

// Before reports whether an import belongs before another run: what it holds is older.
func (r *Run) Before(other *Run) bool {
	if other.Kind == RunImport {
		return r.Newest.Before(other.Newest)
	}
	return r.Newest.Before(other.Started)
}

// Imports are the visits of imports, as spans of their numbers in ascending order.
type Imports []importSpan

type importSpan struct{ from, to Seq } // to is the first visit after it

// ImportsOf returns the visits of the imports among the runs of a state file, by ascending ID.
func ImportsOf(runs []Run) (all Imports) {
	for i := range runs {
		if runs[i].Kind != RunImport {
			continue
		}
		to := Seq(math.MaxUint32)
		if i+1 < len(runs) {
			to = runs[i+1].FirstVisit
		}
		if from := runs[i].FirstVisit; from < to {
			all = append(all, importSpan{from, to})
		}
	}
	return all
}

// Has reports whether a visit is one of an import.
func (is Imports) Has(seq Seq) bool {
	return slices.ContainsFunc(is, func(s importSpan) bool { return s.from <= seq && seq < s.to })
}

// Other returns the n-th visit that is not one of an import.
func (is Imports) Other(n uint64) Seq {
	for _, s := range is {
		if n < uint64(s.from) {
			break
		}
		n += uint64(s.to - s.from)
	}
	return Seq(n)
}

// UpTo returns the number of visits of imports up to a visit.
func (is Imports) UpTo(seq Seq) (n uint64) {
	for _, s := range is {
		if seq >= s.from {
			n += uint64(min(seq+1, s.to) - s.from)
		}
	}
	return n
}
