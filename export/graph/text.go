package graph

import (
	"math"
	"strconv"
)

// appendReal formats a number as XML Schema does.
func appendReal(b []byte, f float64) []byte {
	switch {
	case f == 1: // the most common value, next to 0
		return append(b, '1')
	case math.Float64bits(f) == 0:
		return append(b, '0')
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "INF"...)
	case math.IsInf(f, -1):
		return append(b, "-INF"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
