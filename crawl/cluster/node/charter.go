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
	protocol   = 12       // version of the protocol between nodes
	maxCharter = 64 << 10 // bytes
	maxNames   = 16 << 10 // bytes of node names, unless the shards need more
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
	Nodes         []peer            `json:"nodes"`    // that have joined, by number
	Made          []int             `json:"made"`     // by shard: the node that makes its file, nobody or elsewhere
	Over          []bool            `json:"over"`     // by shard: its file says that the run is over
	Portions      portions          `json:"portions"` // of max-pages
	Epochs        []uint64          `json:"epochs"`   // by shard: how often its file was recreated
	Crawled       schema.Shards     `json:"crawled"`  // shards whose files are no longer empty in this epoch
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

const (
	nobody    = -1
	elsewhere = -2 // a node has made the file, but the hub has forgotten which
)

func newCharter(shards int, config map[string]string) *charter {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	c := &charter{
		Protocol: protocol, Terrain: id, Rule: shard.Version, Normal: normal(), Config: config, Configuration: 1, Run: 1,
		Made: make([]int, shards), Over: make([]bool, shards), Epochs: make([]uint64, shards),
		Portions: newPortions(shards),
	}
	for n := range c.Made {
		c.Made[n] = nobody
	}
	return c
}

// restored rebuilds the charter from a file's part of the terrain, for a hub that has lost it.
func restored(part schema.Part, config map[string]string) *charter {
	c := newCharter(part.Shards, config)
	c.Terrain, c.Rule, c.Run, c.Configuration = part.Terrain[:], part.Rule, part.Run, part.Configuration
	for n := range c.Made {
		c.Made[n] = elsewhere
	}
	c.Restored = true
	c.Portions.forget()
	return c
}

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
	return bytes.Equal(c.Terrain, other.Terrain) && len(c.Made) == len(other.Made)
}

// learn adds what another charter of the terrain knows, and reports whether that changed anything. A hub that has
// lost its charter may get it back from a node that knows less than others. A configuration may then have been given a
// number that another one already has; learn gives c's configuration a new number.
func (c *charter) learn(from *charter) (news bool) {
	if c.Run < from.Run {
		c.Run, c.Restored, news = from.Run, from.Restored, true
		clear(c.Over)
		c.Config, c.Configuration = from.Config, from.Configuration
		c.Portions.forget()
	}
	if c.Run == from.Run && c.Configuration < from.Configuration {
		c.Config, c.Configuration, news = from.Config, from.Configuration, true
		c.Portions.forget()
	}
	if c.Run == from.Run && c.Configuration == from.Configuration && !maps.Equal(c.Config, from.Config) {
		c.renumber()
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
	for n := range c.Made {
		news = c.learnShard(n, from) || news
	}
	return news
}

// learnShard adds what another charter knows about a shard, and reports whether that changed anything.
func (c *charter) learnShard(n int, from *charter) (news bool) {
	if news = c.raise(n, from.Epochs[n]); c.Epochs[n] > from.Epochs[n] {
		return false // from knows a file that was given up
	}
	if maker := from.maker(n); c.maker(n) == "" && maker != "" {
		c.introduce(maker, from.makerName(n))
		c.Made[n], news = c.number(maker), true
	}
	if c.Made[n] == nobody && from.Made[n] == elsewhere {
		c.Made[n], news = elsewhere, true
	}
	if from.Crawled.Has(n) && !c.Crawled.Has(n) {
		c.Crawled.Set(n, true)
		news = true
	}
	if c.Run == from.Run && from.Over[n] && !c.Over[n] {
		c.Over[n], news = true, true
	}
	return news
}

// renumber publishes the configuration under a new number.
func (c *charter) renumber() {
	c.Configuration++
	c.Portions.forget()
}

// raise moves a shard to a later epoch, in which nothing is known about its file yet, and reports whether it was
// in an earlier one.
func (c *charter) raise(shard int, epoch uint64) bool {
	if epoch <= c.Epochs[shard] {
		return false
	}
	c.Epochs[shard], c.Made[shard], c.Over[shard] = epoch, elsewhere, false
	c.Portions.set(shard, portion{Pages: unknown})
	c.Crawled.Set(shard, false)
	return true
}

// maker returns the ID of the node that makes the file of a shard; empty: there is none, or it is unknown.
func (c *charter) maker(shard int) string { return c.makerOf(shard).ID }

// makerName returns its name.
func (c *charter) makerName(shard int) string { return c.makerOf(shard).Name }

func (c *charter) makerOf(shard int) (p peer) {
	if n := c.Made[shard]; n >= 0 && n < len(c.Nodes) {
		p = c.Nodes[n]
	}
	return p
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
	other.Nodes, other.Made = slices.Clone(c.Nodes), slices.Clone(c.Made)
	other.Over, other.Epochs = slices.Clone(c.Over), slices.Clone(c.Epochs)
	other.Portions.Of = slices.Clone(c.Portions.Of)
	return &other
}

// number returns the number of a node, which it adds if necessary. If the nodes become too many, number forgets
// those that make no file, the oldest first. A number is valid until another node is added.
func (c *charter) number(node string) int {
	if n := slices.IndexFunc(c.Nodes, func(p peer) bool { return p.ID == node }); n >= 0 {
		return n
	}
	size := len(node)
	for _, p := range c.Nodes {
		size += p.size()
	}
	for n := 0; n < len(c.Nodes) && size > maxNames; {
		if slices.Contains(c.Made, n) {
			n++
			continue
		}
		size -= c.Nodes[n].size()
		c.unname(n)
	}
	c.Nodes = append(c.Nodes, peer{ID: node})
	return len(c.Nodes) - 1
}

func (p peer) size() int { return len(p.ID) + len(p.Name) }

// introduce adds a node, or gives it its present name, and reports whether that changed anything.
func (c *charter) introduce(node, name string) bool {
	p := peer{node, name}
	if slices.Contains(c.Nodes, p) {
		return false
	}
	n := c.number(node)
	c.Nodes[n] = p
	return true
}

// unname forgets a node that makes no file, which changes the numbers of those after it.
func (c *charter) unname(n int) {
	c.Nodes = slices.Delete(c.Nodes, n, n+1)
	for shard, made := range c.Made {
		if made > n {
			c.Made[shard]--
		}
	}
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
	case len(c.Terrain) != 16, c.Run == 0, len(c.Made) == 0, len(c.Made) > shard.MaxShards,
		len(c.Over) != len(c.Made), len(c.Portions.Of) != len(c.Made), len(c.Epochs) != len(c.Made):
		return nil, fmt.Errorf("%w: it is inconsistent", errCharter)
	}
	return &c, nil
}

// part describes the file of a shard as part of the terrain.
func (c *charter) part(n int) schema.Part {
	return schema.Part{
		Terrain: [16]byte(c.Terrain), Rule: c.Rule, Shard: n, Shards: len(c.Made),
		Run: c.Run, Configuration: c.Configuration,
	}
}

// over reports whether all files say that the run is over.
func (c *charter) over() bool { return !slices.Contains(c.Over, false) }

// claim reserves more shards whose files a node will make, up to its share, but no more than most in total (0: no
// limit). It exceeds the share only with left: others have left shards unmade for long. It reports whether it reserved
// any.
func (c *charter) claim(node string, most int, left bool) (claimed bool) {
	own := len(c.of(node))
	share := (len(c.Made) + len(c.Nodes) - 1) / max(1, len(c.Nodes))
	for range c.Made {
		shard := slices.Index(c.Made, nobody)
		if shard < 0 || own >= share && !left || most > 0 && own >= most {
			break
		}
		c.Made[shard], claimed = c.number(node), true
		own++
	}
	return claimed
}

// unmade returns the shards without a file.
func (c *charter) unmade() []int {
	var shards []int
	for n, made := range c.Made {
		if made == nobody {
			shards = append(shards, n)
		}
	}
	return shards
}

// made reports whether every shard has a file.
func (c *charter) made() bool { return len(c.unmade()) == 0 }

// nodes returns the number of nodes that have files. Each file whose node is unknown counts as one, and so do all
// shards without a file together.
func (c *charter) nodes() int {
	seen, n := map[int]bool{}, 0
	for _, node := range c.Made {
		if node == elsewhere || !seen[node] {
			n++
		}
		seen[node] = true
	}
	return n
}

// of returns the shards whose files a node makes.
func (c *charter) of(node string) (shards []int) {
	for n := range c.Made {
		if c.maker(n) == node {
			shards = append(shards, n)
		}
	}
	return shards
}

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
