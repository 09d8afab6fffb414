package node

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

const (
	protocol   = 14       // version of the protocol between nodes
	maxCharter = 64 << 10 // bytes
	maxNames   = 16 << 10 // bytes of node names
	charterKey = "charter"
)

// ErrTime reports a node that has crawled for max-run-time.
var ErrTime = errors.New("max-run-time is over")

// Errors of a node that does not fit the terrain of its hub.
var (
	// ErrProtocol reports nodes of incompatible versions.
	ErrProtocol = errors.New("the terrain is crawled by another version of Ripple")
	// ErrTerrain reports files of another terrain than the hub's.
	ErrTerrain = errors.New("the hub has another terrain than the files here")
	// ErrConfig reports a configuration other than that of the terrain.
	ErrConfig = errors.New("the configuration is not that of the terrain")

	// ErrLease reports another [cluster] lease than that with which the terrain was created.
	ErrLease = errors.New("[cluster] lease is not that of the terrain, where it never changes")

	errCharter = errors.New("charter")
)

// A charter is what all nodes of a terrain agree on, as the hub keeps it. It is changed only by compare-and-swap.
type charter struct {
	Protocol      int               `json:"protocol"`
	Terrain       []byte            `json:"terrain"`
	Founded       string            `json:"founded"` // [lease.Instance] where it was created; empty: lost since
	Rule          int               `json:"rule"`
	Normal        string            `json:"normal"`  // how URLs are normalised
	Release       string            `json:"release"` // of the node that began the run
	Config        map[string]string `json:"config"`  // digests of the shared values, by key
	Configuration uint64            `json:"configuration"`
	Run           uint64            `json:"run"`
	Pauses        uint64            `json:"pauses"`   // how often it was paused or resumed; odd: it is paused
	Stop          stop              `json:"stop"`     // the last stop without some shards
	Restored      bool              `json:"restored"` // from files, and no shard has finished the run since
	Nodes         []peer            `json:"nodes"`    // that have joined, the latest at the end
	Made          bool              `json:"made"`     // every shard has had a file
	Over          []bool            `json:"over"`     // by shard: its file says that the run is over
	Portions      portions          `json:"portions"` // of max-pages
	Epochs        []uint64          `json:"epochs"`   // by shard: how often its file was recreated
	Ending        moment            `json:"ending"`   // where all shards are at the end; zero or outdated: nowhere
}

// A peer is a node of the terrain.
type peer struct {
	ID   string `json:"id"`
	Name string `json:"name"` // for people; empty: unknown
}

// A moment is a run of a terrain with the configuration that it follows.
type moment struct {
	Run           uint64 `json:"run"`
	Configuration uint64 `json:"configuration"`
}

func (m moment) before(other moment) bool {
	return m.Run < other.Run || m.Run == other.Run && m.Configuration < other.Configuration
}

func newCharter(shards int, config map[string]string) *charter {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return &charter{
		Protocol: protocol, Terrain: id, Rule: shard.Version, Normal: normal(), Config: config, Configuration: 1, Run: 1,
		Over: make([]bool, shards), Epochs: make([]uint64, shards), Portions: newPortions(shards),
	}
}

// restored rebuilds the charter from a file's part of the terrain, for a hub that has lost it. No file is crawled
// before every shard has one.
func restored(part schema.Part, config map[string]string) *charter {
	c := newCharter(part.Shards, config)
	c.Terrain, c.Rule, c.Run, c.Configuration = part.Terrain[:], part.Rule, part.Run, part.Configuration
	c.Made, c.Restored = true, true
	c.Portions.forget()
	return c
}

// shards returns the number of shards.
func (c *charter) shards() int { return len(c.Over) }

// moment returns the current run and configuration of the terrain.
func (c *charter) moment() moment { return moment{c.Run, c.Configuration} }

// paused reports whether the terrain is paused: no node sends requests to hosts.
func (c *charter) paused() bool { return c.Pauses%2 == 1 }

// pause pauses or resumes the terrain, and reports whether that changed anything.
func (c *charter) pause(paused bool) bool {
	if c.paused() == paused {
		return false
	}
	c.Pauses++
	return true
}

// same reports whether both charters belong to one terrain.
func (c *charter) same(other *charter) bool {
	return bytes.Equal(c.Terrain, other.Terrain) && c.shards() == other.shards()
}

// learn adds what another charter of the terrain knows, and reports whether that changed anything. A hub that has
// lost its charter may get it back from a node that knows less than others. A configuration may then have been given a
// number that another one already has; learn gives c's configuration a new number.
func (c *charter) learn(from *charter) (news bool) {
	if c.Run < from.Run {
		c.Restored = from.Restored
		clear(c.Over)
	}
	switch now, its := c.moment(), from.moment(); {
	case now.before(its):
		c.Run, c.Config, c.Configuration, news = its.Run, from.Config, max(now.Configuration, its.Configuration), true
		c.Portions.forget()
	case now == its && !maps.Equal(c.Config, from.Config):
		c.Configuration++
		c.Portions.forget()
		news = true
	}
	if c.Run == from.Run && c.Restored && !from.Restored {
		c.Restored, news = false, true
	}
	if c.Portions.Changes < from.Portions.Changes {
		c.Portions.Changes, news = from.Portions.Changes, true
		c.Portions.forget()
	}
	if c.Stop.Number < from.Stop.Number {
		c.Stop, news = from.Stop, true
	}
	if c.Pauses < from.Pauses {
		c.Pauses, news = from.Pauses, true
	}
	if from.Made && !c.Made {
		c.Made, news = true, true
	}
	for n, epoch := range from.Epochs {
		news = c.raise(n, epoch) || news
		if c.Run == from.Run && c.Epochs[n] == epoch && from.Over[n] && !c.Over[n] {
			c.Over[n], news = true, true
		}
	}
	return news
}

// raise moves a shard to a later epoch, in which nothing is known about its file yet, and reports whether it was
// in an earlier one.
func (c *charter) raise(shard int, epoch uint64) bool {
	if epoch <= c.Epochs[shard] {
		return false
	}
	c.Epochs[shard], c.Over[shard] = epoch, false
	c.Portions.set(shard, portion{Pages: unknown})
	return true
}

// forgotten returns the charter for a hub that has lost it. The shards must report their portions again.
func (c *charter) forgotten() *charter {
	other := c.clone()
	other.Founded = ""
	other.Portions.forget()
	return other
}

// clone returns a copy that may be changed.
func (c *charter) clone() *charter {
	other := *c
	other.Nodes = slices.Clone(c.Nodes)
	other.Over, other.Epochs = slices.Clone(c.Over), slices.Clone(c.Epochs)
	other.Portions.Of = slices.Clone(c.Portions.Of)
	return &other
}

// introduce adds a node, or gives it its present name, and reports whether that changed anything. If the names become
// too many, it forgets the nodes that joined first.
func (c *charter) introduce(node peer) bool {
	if slices.Contains(c.Nodes, node) {
		return false
	}
	c.Nodes = append(slices.DeleteFunc(c.Nodes, func(p peer) bool { return p.ID == node.ID }), node)
	size := 0
	for n := len(c.Nodes) - 1; n >= 0; n-- {
		if size += len(c.Nodes[n].ID) + len(c.Nodes[n].Name); size > maxNames {
			c.Nodes = c.Nodes[n+1:]
			break
		}
	}
	return true
}

// decodeCharter decodes an untrusted charter.
func decodeCharter(text []byte) (*charter, error) {
	if len(text) > maxCharter {
		return nil, fmt.Errorf("%w of %d bytes", errCharter, len(text))
	}
	var c charter
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", errCharter, err)
	}
	switch {
	case c.Protocol != protocol || c.Rule != shard.Version:
		return nil, fmt.Errorf("%w: it speaks protocol %d with rule %d, this one %d with %d",
			ErrProtocol, c.Protocol, c.Rule, protocol, shard.Version)
	case c.Normal != normal():
		return nil, fmt.Errorf("%w: it normalises URLs in another way", ErrProtocol)
	case len(c.Terrain) != 16, c.Run == 0, c.shards() == 0, c.shards() > shard.MaxShards,
		len(c.Portions.Of) != c.shards(), len(c.Epochs) != c.shards():
		return nil, fmt.Errorf("%w: it is inconsistent", errCharter)
	}
	return &c, nil
}

// part describes the file of a shard as part of the terrain.
func (c *charter) part(n int) schema.Part {
	return schema.Part{
		Terrain: [16]byte(c.Terrain), Rule: c.Rule, Shard: n, Shards: c.shards(),
		Run: c.Run, Configuration: c.Configuration,
	}
}

// over reports whether all files say that the run is over.
func (c *charter) over() bool { return !slices.Contains(c.Over, false) }

// digests returns a digest of every value in an effective configuration, as "table.key". An array of tables has
// one digest for all its entries.
func digests(effective []byte) map[string]string {
	values, table, array := map[string][]byte{}, "", false
	for line := range strings.Lines(string(effective)) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, " = ")
		switch {
		case strings.HasPrefix(line, "[["):
			table, array = strings.Trim(line, "[]"), true
			values[table] = append(values[table], line...)
		case strings.HasPrefix(line, "["):
			table, array = strings.Trim(line, "[]"), false
		case line == "": // the last entry of an array is followed by more of them or not
		case array:
			values[table] = append(append(values[table], '\n'), line...)
		case ok:
			values[table+"."+key] = []byte(value)
		}
	}
	sums := make(map[string]string, len(values))
	for key, value := range values {
		sum := sha256.Sum256(value)
		sums[key] = hex.EncodeToString(sum[:8])
	}
	return sums
}

// differing returns the keys whose values differ, separated by commas.
func differing(a, b map[string]string) string {
	var keys []string
	for key, value := range a {
		if b[key] != value {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}
