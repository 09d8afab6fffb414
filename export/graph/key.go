package graph

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
)

// A key identifies a node of a terrain across the files of all its shards, where ids are valid in one
// file only. It is the first 128 bits of the SHA-256 (FIPS 180-4) of its label.
type key [16]byte

func keyOf(label string) key {
	sum := sha256.Sum256([]byte(label))
	return key(sum[:16])
}

// An identity determines how Parquet files identify nodes, and how links refer to them.
type identity struct {
	graph *export.Graph
	node  []export.Column[export.Node]
	edge  []export.Column[export.Link]
	keys  []key // by rank; nil: nodes are identified by their ids
}

// identify identifies nodes by their ids or, in the file of one shard, by keys. In the latter case it
// adds the owning shard of each node; that of an entity is unknown, because an entity may span several
// shards.
func identify(g *export.Graph) *identity {
	i := &identity{graph: g}
	if _, shards := g.Survey().Shard(); shards == 0 {
		i.node = []export.Column[export.Node]{always(numberColumn("id", func(n *export.Node) int64 { return int64(n.ID) }))}
		i.edge = []export.Column[export.Link]{
			always(numberColumn("source", func(l *export.Link) int64 { return int64(l.From) })),
			always(numberColumn("target", func(l *export.Link) int64 { return int64(l.To) })),
		}
		return i
	}
	i.keys = make([]key, g.Len())
	i.node = []export.Column[export.Node]{
		keyColumn("id", func(n *export.Node) key { return i.of(n.ID) }),
		{
			Name: "owner", Kind: export.Integer, Levels: export.AllLevels, Form: export.Nullable | export.Dictionary,
			Of: i.owner,
		},
	}
	i.edge = []export.Column[export.Link]{
		keyColumn("source", func(l *export.Link) key { return i.of(l.From) }),
		keyColumn("target", func(l *export.Link) key { return i.of(l.To) }),
	}
	return i
}

func keyColumn[T any](name string, of func(*T) key) export.Column[T] {
	return export.Column[T]{Name: name, Kind: export.Key, Levels: export.AllLevels, Of: func(t *T) export.Value {
		k := of(t)
		return export.Value{Text: string(k[:])}
	}}
}

// of returns the key of a node. [identity.eachNode] must have passed the node.
func (i *identity) of(id uint32) key {
	place, _ := i.graph.Rank(id)
	return i.keys[place]
}

func (i *identity) owner(n *export.Node) export.Value {
	name := n.Name
	switch i.graph.Level() {
	case export.LevelPage:
		name = n.Host
	case export.LevelEntity:
		return export.Value{None: true}
	}
	return export.Value{Count: int64(i.graph.Survey().Hosts.ShardOf(name))}
}

// eachNode is like the function eachNode, and stores the keys. The file of a shard has no in-links.
func (i *identity) eachNode(f func(*export.Node) error) error {
	return eachNode(i.graph, func(n *export.Node) error {
		if i.keys != nil {
			place, _ := i.graph.Rank(n.ID)
			i.keys[place] = keyOf(n.Name)
		}
		return f(n)
	})
}

// writeFolder writes a folder with files. For the graph of one shard it writes a subfolder next to
// those of the other shards, and creates the parent if necessary.
func (f Format) writeFolder(path string, g *export.Graph, force bool,
	files func(dir string) ([]string, map[string]any, error)) error {
	shard, shards := g.Survey().Shard()
	if !f.Keyed || shards == 0 {
		if err := atomicfile.CheckFolder(path, f.ext(), force); err != nil {
			return err
		}
		return atomicfile.Folder(path, files)
	}
	_, err := os.Stat(path)
	if err == nil && !force && !holdsShards(path) {
		return fmt.Errorf("%s holds something else than shards of a terrain; name another folder", path)
	}
	own := filepath.Join(path, fmt.Sprintf("shard=%d", shard))
	if err := atomicfile.CheckFolder(own, f.ext(), force); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o777); err != nil && !os.IsExist(err) {
		return err
	}
	if err := atomicfile.Folder(own, files); err != nil {
		_ = os.Remove(path) // unless there are other shards
		return err
	}
	return nil
}

var shardFolder = regexp.MustCompile(`^shard=[0-9]+$`)

// holdsShards reports whether a folder contains only folders of shards. Each of those is checked when
// it is replaced.
func holdsShards(path string) bool {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if !e.IsDir() || !shardFolder.MatchString(e.Name()) {
			return false
		}
	}
	return err == nil
}

// checkFolder returns why a folder must not be replaced, or nil. It is used before the shard of a graph
// is known.
func (f Format) checkFolder(path string, force bool) error {
	if f.Keyed && holdsShards(path) {
		return nil
	}
	return atomicfile.CheckFolder(path, f.ext(), force)
}
