//go:build !race

package page

// raceEnabled: the race detector is on.
const raceEnabled = false
