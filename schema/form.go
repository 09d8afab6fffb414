package schema

import "hash/fnv"

// MaxForms is the number of forms of a URL that are kept, the first in byte order.
const MaxForms = 4

// Know notes the forms that are known when a visit begins.
func (v *Visit) Know(forms []string) { v.FormsKnown, v.FormsSum = len(forms), sumOf(forms) }

// Knew reports whether all of these forms were known when the visit began. Where no more are
// kept, one that is new has taken the place of another.
func (v *Visit) Knew(forms []string) bool {
	return len(forms) <= v.FormsKnown && (v.FormsSum == 0 || v.FormsSum == sumOf(forms))
}

func sumOf(forms []string) uint16 {
	if len(forms) < MaxForms {
		return 0
	}
	h := fnv.New32a()
	for _, form := range forms {
		_, _ = h.Write(append([]byte(form), 0)) // never fails
	}
	return uint16(h.Sum32()>>16) | 1
}
