package answer

import (
	"cmp"
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

// A TerrainStats is the progress of the shards of a terrain.
type TerrainStats struct {
	Hub      string       `json:"hub"`
	Terrain  string       `json:"terrain"` // hexadecimal
	Run      uint64       `json:"run"`
	Config   uint64       `json:"configuration"` // number
	Over     bool         `json:"over"`          // on all shards
	Without  []int        `json:"without"`       // shards without which the run ended and that no node is crawling
	Paused   bool         `json:"paused"`
	Nodes    []string     `json:"nodes"`           // that have joined
	Pages    int          `json:"pages_requested"` // total of the shards that report it
	Unsaid   int          `json:"not_counted"`     // shards for which no node reports a number
	ToVisit  int          `json:"pages_to_visit"`
	Fetching int          `json:"fetching"` // open requests of the same shards
	Silent   int          `json:"silent"`   // shards that do not answer; their pages are not counted
	Shards   []ShardStats `json:"shards"`
}

// The states of a shard in addition to those of its crawl.
const (
	ShardUnmade = "no file yet"
	ShardIdle   = "nobody has it" // its file is on a machine that is off
	ShardSilent = "silent"
	ShardOver   = "over"
)

// ShardStates returns all valid states of a shard.
func ShardStates() []string {
	return []string{ShardUnmade, ShardIdle, ShardSilent, ShardOver, "waiting", "running", "paused", "stopping"}
}

// ShardStats are the figures of one shard.
type ShardStats struct {
	Shard   int             `json:"shard"`
	State   string          `json:"state"`
	Pages   *int            `json:"pages_requested"` // null: no node reports it
	Node    string          `json:"node"`            // that holds it, or that made its file; empty: unknown
	Since   *time.Time      `json:"since"`           // when that node took it; null: no node holds it
	Config  uint64          `json:"configuration"`   // number of the configuration that it follows; 0: unknown
	Status  *census.Status  `json:"status"`          // null: no answer
	Backlog []crawl.Backlog `json:"untold"`          // messages not yet delivered to other shards
	Waiting []int           `json:"asked_by"`        // shards that wait for an answer from it
	Silent  *time.Time      `json:"silent_since"`
}

// NewTerrainStats returns the progress of a terrain. most is the max-pages of its run; 0 means
// unknown or unlimited.
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
	if most > 0 { // the limit is one for all shards together; each may use what is left of it
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
	case one.Waits != nil:
		w := one.Waits
		s.Status, s.State, s.Config, s.Node = &w.Status, w.Status.Status, w.Configuration, cmp.Or(one.Node, one.Maker)
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
	Since *time.Time `json:"since"` // null: unknown

	Shard int    `json:"-"` // the shard that it is about; -1: none in particular
	Same  string `json:"-"` // identifies what is waited for; equal values mean the same wait
}

// NoteOf returns a note about a shard, or -1 for none, without a start time.
func NoteOf(shard int, format string, args ...any) TerrainNote {
	text := fmt.Sprintf(format, args...)
	return TerrainNote{Text: text, Shard: shard, Same: text}
}

// since adds the start time, and the duration to the text.
func (n TerrainNote) since(at *time.Time, how string, now time.Time) TerrainNote {
	n.Text, n.Since = n.Text+how+term.Span(max(0, now.Sub(*at))), at // at comes from another machine's clock
	return n
}

// Notes returns what keeps the terrain's run open, or which nodes must join for it to continue.
func (s *TerrainStats) Notes(now time.Time) []TerrainNote {
	notes := []TerrainNote{}
	if len(s.Without) > 0 {
		return append(notes, NoteOf(-1, "\"ripple crawl\" on all machines resumes the run, with %s back or recreated",
			schema.ShardsOf(s.Without...).Named()))
	}
	for i := range s.Shards {
		if one := &s.Shards[i]; one.Config != 0 && one.Config < s.Config {
			notes = append(notes, NoteOf(i,
				"shard %d follows an older configuration until that of %s is changed, too", i, term.Ends(one.Node, 60)))
		}
		notes = append(notes, s.Shards[i].notes(now)...)
	}
	return notes
}

// notes returns what keeps the terrain's run open at this shard.
func (s *ShardStats) notes(now time.Time) (notes []TerrainNote) {
	name := term.Ends(s.Node, 60)
	if s.Status != nil && s.State != ShardOver && s.Status.Condition.Cause != census.NoCause {
		notes = append(notes, NoteOf(s.Shard, "shard %d on %s: %s", s.Shard, name, term.Clean(s.Status.Waits, 300)))
	}
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
