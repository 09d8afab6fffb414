package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/node"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A terrainStats says how the shards of a terrain get on.
type terrainStats struct {
	Hub      string       `json:"hub"`
	Terrain  string       `json:"terrain"` // hexadecimal
	Run      uint64       `json:"run"`
	Config   uint64       `json:"configuration"` // number
	Over     bool         `json:"over"`          // on all shards
	Without  []int        `json:"without"`       // shards that the run was ended without, and nobody goes on with it
	Paused   bool         `json:"paused"`
	Nodes    []string     `json:"nodes"`           // that have come
	Pages    int          `json:"pages_requested"` // by the shards that say it
	Unsaid   int          `json:"not_counted"`     // shards of which nobody says how many
	ToVisit  int          `json:"pages_to_visit"`
	Fetching int          `json:"fetching"` // requests that are open, by the same
	Silent   int          `json:"silent"`   // shards that do not answer: their pages are not counted
	Shards   []shardStats `json:"shards"`
}

// The states of a shard beside those of its crawl.
const (
	shardUnmade = "no file yet"
	shardIdle   = "nobody has it" // and its file lies on a machine that is off
	shardSilent = "silent"
	shardOver   = "over"
)

// shardStates are all that a shard may be in, if its node tells the truth.
func shardStates() []string {
	return []string{shardUnmade, shardIdle, shardSilent, shardOver, "waiting", "running", "paused", "stopping"}
}

type shardStats struct {
	Shard   int             `json:"shard"`
	State   string          `json:"state"`
	Pages   *int            `json:"pages_requested"` // null: nobody says it
	Node    string          `json:"node"`            // that has it, or made its file; empty: unknown
	Since   *time.Time      `json:"since"`           // when that has it; null: it has not
	Config  uint64          `json:"configuration"`   // number of the one that it follows; 0: unknown
	Status  *census.Status  `json:"status"`          // null: it does not answer
	Backlog []crawl.Backlog `json:"untold"`          // what it has to tell others
	Waiting []int           `json:"asked_by"`        // shards that wait for an answer of it
	Silent  *time.Time      `json:"silent_since"`
}

func runTerrainStats(ctx context.Context, a *app, cfg *config.Config, opts statsOptions) error {
	return atHub(ctx, a.voice.Logger(), cfg, func(conn *hub.Conn) error {
		t, err := node.Look(ctx, conn)
		if err != nil {
			return err
		}
		most := 0
		if t.Follows(cfg) {
			most = cfg.Crawler.MaxPages
		}
		s := newTerrainStats(cfg.Cluster.Hub, most, t)
		if opts.json {
			return term.PrintJSON(a.stdout, s)
		}
		return term.Flushed(a.stdout, func(w io.Writer) error { return printTerrain(w, s, time.Now()) })
	})
}

// newTerrainStats says how a terrain gets on whose run visits so many pages at most; 0: that is not known, or any
// number.
func newTerrainStats(hub string, most int, t *node.Terrain) *terrainStats {
	s := &terrainStats{
		Hub: hub, Terrain: hex.EncodeToString(t.ID[:]), Run: t.Run, Config: t.Configuration, Over: t.Over,
		Without: slices.AppendSeq([]int{}, t.Without.All()), Paused: t.Paused, Nodes: t.Nodes,
		Shards: make([]shardStats, len(t.Shards)),
	}
	for n := range t.Shards {
		s.Shards[n] = newShardStats(&t.Shards[n])
	}
	for n, one := range s.Shards {
		if one.Status != nil {
			s.ToVisit += one.Status.PagesToVisit
			s.Fetching += one.Status.Fetching
		} else if one.State != shardOver {
			s.Silent++
		}
		if one.Pages != nil {
			s.Pages += *one.Pages
		} else {
			s.Unsaid++
		}
		for _, b := range one.Backlog {
			if b.Silent.IsZero() || b.Shard < 0 || b.Shard >= len(s.Shards) {
				continue
			}
			to := &s.Shards[b.Shard]
			to.Waiting = append(to.Waiting, n)
			if to.Silent == nil || b.Silent.Before(*to.Silent) {
				to.Silent = &b.Silent
			}
		}
	}
	if most > 0 { // each shard may visit what is left, but not all of them together
		s.ToVisit = min(s.ToVisit, max(0, most-s.Pages))
	}
	return s
}

func newShardStats(one *node.Shard) shardStats {
	s := shardStats{Shard: one.Number, Node: one.Node, Backlog: []crawl.Backlog{}, Waiting: []int{}}
	if one.Node != "" {
		s.Since = &one.Since
	}
	switch r := one.Report; {
	case r != nil:
		s.Status, s.State, s.Config = &r.Status, r.Status.Status, r.Configuration
		s.Pages = &r.Status.Pages
		if r.Over {
			s.State = shardOver
		}
		if r.Backlog != nil {
			s.Backlog = r.Backlog
		}
	case one.Over:
		if s.State, s.Node = shardOver, one.Maker; one.Pages >= 0 {
			s.Pages = &one.Pages
		}
	case one.Node != "":
		s.State = shardSilent
	case one.Made:
		s.State, s.Node = shardIdle, one.Maker
	default:
		s.State = shardUnmade
	}
	return s
}

func printTerrain(w io.Writer, s *terrainStats, now time.Time) error {
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
	fmt.Fprintf(w, "%s, %s to visit; %s on %s", visited(s.Pages),
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
			cells[3], cells[4] = term.Commas(st.PagesToVisit), fmt.Sprintf("%.1f", st.PagesPerSecond)
			if st.ETA != 0 {
				cells[5] = seconds(st.ETA)
			}
		}
		t.Row(append(cells, term.Clean(one.Node, 60))...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, note := range s.notes(now) {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, note.Text)
	}
	return nil
}

// A terrainNote says what the terrain waits for.
type terrainNote struct {
	Text  string     `json:"text"`
	Since *time.Time `json:"since"` // null: it is not known

	shard int    // that it is about; -1: none in particular
	same  string // as long as it is this, what is waited for stays the same
}

// noteOf is a note about a shard, or -1, of which it is not known since when it holds.
func noteOf(shard int, format string, args ...any) terrainNote {
	text := fmt.Sprintf(format, args...)
	return terrainNote{Text: text, shard: shard, same: text}
}

// since adds since when it holds, and says for how long.
func (n terrainNote) since(at *time.Time, how string, now time.Time) terrainNote {
	n.Text, n.Since = n.Text+how+term.Span(max(0, now.Sub(*at))), at // by the clock of another machine
	return n
}

// notes say what keeps the run of the terrain open, or who has to come for it to go on.
func (s *terrainStats) notes(now time.Time) []terrainNote {
	notes := []terrainNote{}
	if len(s.Without) > 0 {
		return append(notes, noteOf(-1, "\"ripple crawl\" on all machines resumes the run, with %s back or recreated",
			schema.ShardsOf(s.Without...).Named()))
	}
	for i := range s.Shards {
		if one := &s.Shards[i]; one.Config != 0 && one.Config < s.Config {
			notes = append(notes, noteOf(i,
				"shard %d follows an older configuration until that of %s is changed, too", i, term.Clean(one.Node, 60)))
		}
		notes = append(notes, s.Shards[i].notes(now)...)
	}
	return notes
}

// notes say what keeps the run of the terrain open at a shard.
func (s *shardStats) notes(now time.Time) (notes []terrainNote) {
	name := term.Clean(s.Node, 60)
	switch s.State {
	case shardSilent:
		note := noteOf(s.Shard, "shard %d does not answer: %s may be off, cut off or busy; "+
			"the run stays open until it answers", s.Shard, name)
		if s.Silent != nil {
			note = note.since(s.Silent, "; silent for ", now)
		}
		notes = append(notes, note)
	case shardIdle:
		if name == "" {
			name = "the machine"
		}
		notes = append(notes, noteOf(s.Shard, "shard %d waits for %s, which has its file, or a newer copy",
			s.Shard, name))
	case shardUnmade:
		notes = append(notes, noteOf(s.Shard, "shard %d waits for a node that makes its file", s.Shard))
	}
	for _, b := range s.Backlog {
		if b.Silent.IsZero() {
			continue
		}
		note := noteOf(s.Shard, "shard %d has to tell shard %d of %s, and waits for an answer", s.Shard, b.Shard,
			term.Count(b.URLs, "URL", "URLs"))
		switch {
		case b.More:
			note = noteOf(s.Shard, "shard %d has to tell shard %d everything again, and waits for an answer",
				s.Shard, b.Shard)
		case b.URLs == 0:
			note = noteOf(s.Shard, "shard %d asks shard %d, and waits for an answer", s.Shard, b.Shard)
		}
		notes = append(notes, note.since(&b.Silent, " for ", now))
	}
	return notes
}
