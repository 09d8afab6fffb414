package schema

import "time"

// Shown is a hash of what an HTML page shows: its title, its text and its images, without its own address and without
// the time of day. Two pages with the same one look the same. 0: the page is not HTML.
type Shown uint64

// A MissingProbe is what a host answered to one request for a page that cannot exist.
type MissingProbe struct {
	Run    RunID // the last run that asked; 0: none did
	At     time.Time
	Status int    // 0: no answer
	Walled bool   // the answer is a wall, so it says nothing
	Target string // of a redirect, with a mark in place of the path that was requested; empty: none that is usable
	Title  string // of the page that was shown, as are the others
	Shown  Shown
	Sim    SimHash
	Shell  bool // it needs scripts
}
