package show

import (
	"fmt"
	"io"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/schema"
)

// Terrain prints the shards of a terrain.
func Terrain(w io.Writer, s *answer.TerrainStats, now time.Time) error {
	state := ""
	switch {
	case s.Over:
		state = ", over on all shards"
	case len(s.Without) > 0:
		state = ", interrupted without " + schema.ShardsOf(s.Without...).Named()
	case s.Paused:
		state = ", paused"
	}
	fmt.Fprintf(w, "terrain %s at %s: run #%d%s\n", s.Terrain[:8], term.Shown(s.Hub), s.Run, state)
	fmt.Fprintf(w, "%s, %s to visit; %s on %s", Visited(s.Pages),
		term.Commas(s.ToVisit), term.Count(len(s.Shards), "shard", "shards"), term.Count(len(s.Nodes), "node", "nodes"))
	if s.Unsaid > 0 {
		fmt.Fprintf(w, "; not counted: %s", term.Count(s.Unsaid, "shard", "shards"))
	}
	fmt.Fprint(w, "\n\n")
	t := term.NewTable(w)
	t.Row("shard", "state", "visited", "to visit", "pages/s", "ETA", "node")
	for _, one := range s.Shards {
		cells := []any{one.Shard, term.Clean(one.State, 20), "", "", "", ""}
		if one.Pages != nil {
			cells[2] = term.Commas(*one.Pages)
		}
		if st := one.Status; st != nil {
			if st.Condition.Cause != census.NoCause && one.State != answer.ShardOver {
				cells[1] = term.Clean(st.Condition.Label, 24)
			}
			cells[3], cells[4] = term.Commas(st.PagesToVisit), fmt.Sprintf("%.1f", st.PagesPerSecond)
			if st.ETA != 0 {
				cells[5] = seconds(st.ETA)
			}
		}
		t.Row(append(cells, term.Ends(one.Node, 60))...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, note := range s.Notes(now) {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, note.Text)
	}
	return nil
}
