//go:build race

package page

// With the race detector on, times say nothing and everything takes longer.
const (
	raceEnabled = true
	shapeSize   = 500_000
)
