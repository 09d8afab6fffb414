//go:build !race

package page

const (
	raceEnabled = false
	shapeSize   = 5_000_000 // bytes of a hostile page
)
