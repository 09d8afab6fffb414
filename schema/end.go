package schema

import (
	"fmt"
	"time"
)

// An EndKind is what ended the walk of a run. Its numbers are part of the file's
// format; further kinds are added at the end.
type EndKind uint8

// The kinds of ends.
const (
	EndNone         EndKind = iota // the walk goes on, or it is known in words only
	EndFrontier                    // nothing is left
	EndMaxPages                    // max-pages
	EndBudgets                     // what is left is beyond the budgets of hosts
	EndMaxRunTime                  // max-run-time
	EndReload                      // it goes on under another configuration
	EndReclassified                // a reclassification found more to do
	EndStopped                     // by what Detail says
	EndOutputs                     // stopped when only its outputs were missing
	EndAnew                        // the file of the shard was made anew, and has nothing of it
	endCount
)

// An End is why a run ended, as far as it has. The zero value is no end.
type End struct {
	Kind   EndKind
	N      int           // max-pages, or the hosts whose budgets are used up
	After  time.Duration // max-run-time
	Detail string        // what stopped it; all there is if the kind is none

	Without Shards // of the terrain, that had no part in it
}

// Known reports whether k is one of the kinds that this release knows.
func (k EndKind) Known() bool { return k < endCount }

// String is the end in words. They end with its Detail.
func (e End) String() string { return e.Missing() + e.words() + e.Detail }

// Missing names the shards that had no part in it, as String begins.
func (e End) Missing() string {
	if e.Without == (Shards{}) {
		return ""
	}
	return "without " + e.Without.Named() + ": "
}

func (e End) words() string {
	switch e.Kind {
	case EndFrontier:
		return "the frontier is empty"
	case EndMaxPages:
		return fmt.Sprintf("max-pages = %d", e.N)
	case EndBudgets:
		if e.N == 1 {
			return "what is left is beyond the budget of a host"
		}
		return fmt.Sprintf("what is left is beyond the budgets of %d hosts", e.N)
	case EndMaxRunTime:
		return fmt.Sprintf("max-run-time = %s", e.After)
	case EndReload:
		return "configuration changed"
	case EndReclassified:
		return "reclassified"
	case EndOutputs:
		return "stopped before its outputs were written"
	case EndAnew:
		return "the file of a shard was made anew since"
	}
	return ""
}
