//go:build race

package page

// raceEnabled: the race detector is on, and times say nothing.
const raceEnabled = true
