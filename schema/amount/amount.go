// Package amount writes numbers as a person reads them: thousands apart, and with
// the noun that is counted in its form.
package amount

import (
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Commas writes a number with a comma between thousands: 4,751.
func Commas[T ~int | ~int64 | ~uint64](n T) string { return humanize.Comma(int64(n)) }

// Of writes a number with what is counted: "1 page", "4,751 pages". An empty many
// is the regular plural of one.
func Of(n int, one, many string) string { return Commas(n) + " " + english.PluralWord(n, one, many) }
