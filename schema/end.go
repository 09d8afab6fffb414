package schema

import (
	"fmt"
	"time"
)

// An EndKind is why the walk of a run ended. Its numbers are part of the file format, so new kinds are
// added at the end.
type EndKind uint8

// The kinds of ends.
const (
	EndNone         EndKind = iota // the walk continues
	EndFrontier                    // no URL is left
	EndMaxPages                    // max-pages
	EndBudgets                     // all remaining URLs are beyond the budgets of their hosts
	EndMaxRunTime                  // max-run-time
	EndReload                      // the walk continues under another configuration
	EndReclassified                // a reclassification found more work
	EndStopped                     // stopped by what Detail names
	EndOutputs                     // stopped when only the outputs were missing
	EndRecreated                   // the file of the shard was recreated and has no data of the run
	EndArchives                    // the archives are read
	endCount
)

// An End is why a run has ended. The zero value means that it has not.
type End struct {
	Kind   EndKind
	N      int           // max-pages, or the number of hosts whose budgets are used up
	After  time.Duration // max-run-time
	Detail string        // what stopped it

	Without Shards // the shards of the terrain that took no part
}

// Known reports whether this release knows the kind.
func (k EndKind) Known() bool { return k < endCount }

// String returns the reason in words, followed by Detail.
func (e End) String() string { return e.Missing() + e.words() + e.Detail }

// Missing names the shards that took no part; String begins with it.
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
	case EndArchives:
		return "the archives are read"
	case EndRecreated:
		return "the file of a shard has been recreated since"
	}
	return ""
}
