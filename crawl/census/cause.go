package census

// A Cause is what a crawl, a shard or a machine waits for, when it is no host that keeps it waiting. Every view shows
// it first, and shows no remaining time while it lasts.
type Cause string

// The causes.
const (
	NoCause      Cause = ""
	CauseDisk    Cause = "disk"    // the disk is full, or too slow
	CauseMemory  Cause = "memory"  // this machine lacks memory, descriptors or processor time
	CauseHub     Cause = "hub"     // no hub answers
	CauseNetwork Cause = "network" // the network of this machine is down
	CauseShard   Cause = "shard"   // another shard is silent, or has no file yet
	CausePeople  Cause = "people"  // somebody paused it, or has to change a file
)

// Causes returns all causes.
func Causes() []Cause {
	return []Cause{CauseDisk, CauseMemory, CauseHub, CauseNetwork, CauseShard, CausePeople}
}

// Cause returns what the crawl waits for; empty: for nothing but its hosts, or it does not wait.
func (w *Wait) Cause() Cause {
	switch w.Reason {
	case ForDisk:
		return CauseDisk
	case ForMeans:
		return CauseMemory
	case ForNetwork:
		return CauseNetwork
	case Paused:
		return CausePeople
	}
	return NoCause
}
