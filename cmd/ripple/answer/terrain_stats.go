package answer

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema"
)

// A TerrainStats says how the shards of a terrain get on.
type TerrainStats struct {
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
	Shards   []ShardStats `json:"shards"`
}

// The states of a shard beside those of its crawl.
const (
	ShardUnmade = "no file yet"
	ShardIdle   = "nobody has it" // and its file lies on a machine that is off
	ShardSilent = "silent"
	ShardOver   = "over"
)

// ShardStates are all that a shard may be in, if its node tells the truth.
func ShardStates() []string {
	return []string{ShardUnmade, ShardIdle, ShardSilent, ShardOver, "waiting", "running", "paused", "stopping"}
}

// ShardStats are the figures of one shard.
type ShardStats struct {
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

// NewTerrainStats returns the progress of a terrain. most is the max-pages of its run; 0: unknown or unlimited.
func NewTerrainStats(hub string, most int, t *node.Terrain) *TerrainStats {
	s := &TerrainStats{
		Hub: hub, Terrain: hex.EncodeToString(t.ID[:]), Run: t.Run, Config: t.Configuration, Over: t.Over,
		Without: slices.AppendSeq([]int{}, t.Without.All()), Paused: t.Paused, Nodes: t.Nodes,
		Shards: make([]ShardStats, len(t.Shards)),
	}
	for n := range t.Shards {
		s.Shards[n] = newShardStats(&t.Shards[n])
	}
	for n, one := range s.Shards {
		if one.Status != nil {
			s.ToVisit += one.Status.PagesToVisit
			s.Fetching += one.Status.Fetching
		} else if one.State != ShardOver {
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

func newShardStats(one *node.Shard) ShardStats {
	s := ShardStats{Shard: one.Number, Node: one.Node, Backlog: []crawl.Backlog{}, Waiting: []int{}}
	if one.Node != "" {
		s.Since = &one.Since
	}
	switch r := one.Report; {
	case r != nil:
		s.Status, s.State, s.Config = &r.Status, r.Status.Status, r.Configuration
		s.Pages = &r.Status.Pages
		if r.Over {
			s.State = ShardOver
		}
		if r.Backlog != nil {
			s.Backlog = r.Backlog
		}
	case one.Over:
		if s.State, s.Node = ShardOver, one.Maker; one.Pages >= 0 {
			s.Pages = &one.Pages
		}
	case one.Node != "":
		s.State = ShardSilent
	case one.Made:
		s.State, s.Node = ShardIdle, one.Maker
	default:
		s.State = ShardUnmade
	}
	return s
}

// A TerrainNote says what the terrain waits for.
type TerrainNote struct {
	Text  string     `json:"text"`
	Since *time.Time `json:"since"` // null: it is not known

	Shard int    `json:"-"` // that it is about; -1: none in particular
	Same  string `json:"-"` // as long as it is this, what is waited for stays the same
}

// NoteOf is a note about a shard, or -1, of which it is not known since when it holds.
func NoteOf(shard int, format string, args ...any) TerrainNote {
	text := fmt.Sprintf(format, args...)
	return TerrainNote{Text: text, Shard: shard, Same: text}
}

// since adds since when it holds, and says for how long.
func (n TerrainNote) since(at *time.Time, how string, now time.Time) TerrainNote {
	n.Text, n.Since = n.Text+how+term.Span(max(0, now.Sub(*at))), at // by the clock of another machine
	return n
}

// Notes say what keeps the run of the terrain open, or who has to come for it to go on.
func (s *TerrainStats) Notes(now time.Time) []TerrainNote {
	notes := []TerrainNote{}
	if len(s.Without) > 0 {
		return append(notes, NoteOf(-1, "\"ripple crawl\" on all machines resumes the run, with %s back or recreated",
			schema.ShardsOf(s.Without...).Named()))
	}
	for i := range s.Shards {
		if one := &s.Shards[i]; one.Config != 0 && one.Config < s.Config {
			notes = append(notes, NoteOf(i,
				"shard %d follows an older configuration until that of %s is changed, too", i, term.Clean(one.Node, 60)))
		}
		notes = append(notes, s.Shards[i].notes(now)...)
	}
	return notes
}

// notes say what keeps the run of the terrain open at a shard.
func (s *ShardStats) notes(now time.Time) (notes []TerrainNote) {
	name := term.Clean(s.Node, 60)
	switch s.State {
	case ShardSilent:
		note := NoteOf(s.Shard, "shard %d does not answer: %s may be off, cut off or busy; "+
			"the run stays open until it answers", s.Shard, name)
		if s.Silent != nil {
			note = note.since(s.Silent, "; silent for ", now)
		}
		notes = append(notes, note)
	case ShardIdle:
		if name == "" {
			name = "the machine"
		}
		notes = append(notes, NoteOf(s.Shard, "shard %d waits for %s, which has its file, or a newer copy",
			s.Shard, name))
	case ShardUnmade:
		notes = append(notes, NoteOf(s.Shard, "shard %d waits for a node that makes its file", s.Shard))
	}
	for _, b := range s.Backlog {
		if b.Silent.IsZero() {
			continue
		}
		note := NoteOf(s.Shard, "shard %d has to tell shard %d of %s, and waits for an answer", s.Shard, b.Shard,
			term.Count(b.URLs, "URL", "URLs"))
		switch {
		case b.More:
			note = NoteOf(s.Shard, "shard %d has to tell shard %d everything again, and waits for an answer",
				s.Shard, b.Shard)
		case b.URLs == 0:
			note = NoteOf(s.Shard, "shard %d asks shard %d, and waits for an answer", s.Shard, b.Shard)
		}
		notes = append(notes, note.since(&b.Silent, " for ", now))
	}
	return notes
}
