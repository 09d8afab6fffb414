package schema

import "fmt"

// A State is the state of a page. The zero value is Discovered.
type State uint8

// The states.
const (
	Discovered State = iota
	Queued
	Fetching
	Processed
	Blacklisted
	Stubbed
	DeadLink
	Unreachable
	RateLimited
	Failed
	DepthExceeded
	RequestLimitHit
	ContentMismatch
	Foreign // only in a file with a part of a terrain: the page is visited by a shard not in the file

	StateCount // the number of states
)

// States returns all states in order.
func States() []State { return all(StateCount) }

// Valid reports whether s is one of the states.
func (s State) Valid() bool { return s < StateCount }

// String returns the state as written in SQL and reports.
func (s State) String() string {
	switch s {
	case Discovered:
		return "discovered"
	case Queued:
		return "queued"
	case Fetching:
		return "fetching"
	case Processed:
		return "processed"
	case Blacklisted:
		return "blacklisted"
	case Stubbed:
		return "stubbed"
	case DeadLink:
		return "dead_link"
	case Unreachable:
		return "unreachable"
	case RateLimited:
		return "rate_limited"
	case Failed:
		return "failed"
	case DepthExceeded:
		return "depth_exceeded"
	case RequestLimitHit:
		return "request_limit_hit"
	case ContentMismatch:
		return "content_mismatch"
	case Foreign:
		return "foreign"
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Visited reports whether the state can be the result of a visit.
func (s State) Visited() bool {
	switch s {
	case Processed, DeadLink, Unreachable, RateLimited, Failed, ContentMismatch:
		return true
	}
	return false
}
