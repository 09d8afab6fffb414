// Package amount formats numbers for people: with separators between thousands, and with the counted
// noun in its singular or plural form.
package amount

import (
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Commas formats a number with a comma between thousands: 4,751.
func Commas[T ~int | ~int64 | ~uint64](n T) string { return humanize.Comma(int64(n)) }

// Of formats a number with its noun: "1 page", "4,751 pages". If many is empty, the regular plural of
// one is used.
func Of(n int, one, many string) string { return Commas(n) + " " + english.PluralWord(n, one, many) }
