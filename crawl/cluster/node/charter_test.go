package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// chartered returns the charter of a terrain of two shards that have files.
func chartered(run uint64, over ...bool) *charter {
	c := newCharter(2, map[string]string{"a.b": "1"})
	c.Terrain, c.Run, c.Over, c.Made = make([]byte, 16), run, over, true
	return c
}

// The first node that joins after a run is over begins the next run. A node that only reports that the run is over
// does so only if the hub had lost everything between the two runs.
func TestEnter(t *testing.T) {
	same, other := map[string]string{"a.b": "1"}, map[string]string{"a.b": "2"}
	urls := map[string]string{"a.b": "1", "url.max-length": "1"}
	tests := []struct {
		name     string
		charter  *charter
		over     bool // before the node joined
		restored bool
		config   map[string]string
		run      uint64
		want     error
	}{
		{"in the run", chartered(3, true, false), false, false, same, 3, nil},
		{"after the run", chartered(3, true, true), true, false, same, 4, nil},
		{"with the news that it is over", chartered(3, true, true), false, false, same, 3, nil},
		{"at a hub that has been told by files", chartered(3, true, true), false, true, same, 4, nil},
		{"in the run with another configuration", chartered(3, false, true), false, false, other, 3, ErrConfig},
		{"after the run with another configuration", chartered(3, true, true), true, false, other, 4, nil},
		{"after the run with other URLs", chartered(3, true, true), true, false, urls, 3, crawl.ErrIdentity},
		{"before others have told that it is over", chartered(3, true, false), false, true, other, 3, errOthers},
		{"before its own files say so", chartered(3, false, true), false, true, other, 3, ErrConfig},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := &joiner{Options: &Options{ID: "one"}, config: tt.config}
			c := tt.charter
			c.Restored = tt.restored
			_, err := j.enter(c, map[int]*file{0: nil}, tt.over)
			if !errors.Is(err, tt.want) || err != nil && tt.want == nil {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if c.Run != tt.run || err == nil && !maps.Equal(c.Config, tt.config) {
				t.Errorf("run %d with %v, want %d with %v", c.Run, c.Config, tt.run, tt.config)
			}
			if begun := tt.run != 3; begun && (slices.Contains(c.Over, true) || c.Restored || c.paused()) {
				t.Errorf("the next run begins as %+v", c)
			}
		})
	}
}

// A charter learns from one that knows more, in any order, and nothing from one that knows less.
func TestLearn(t *testing.T) {
	early, late := chartered(2, false, true), chartered(2, true, false)
	early.Made = false
	late.Configuration, late.Config = 5, map[string]string{"a.b": "5"}
	late.pause(true)
	next := chartered(3, false, false)
	all := []*charter{early, late, next}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		c := all[order[0]].clone()
		for _, n := range order[1:] {
			if !c.learn(all[n]) && n != 0 {
				t.Errorf("%v: nothing of charter %d is news", order, n)
			}
		}
		for _, known := range all {
			if c.learn(known) {
				t.Errorf("%v: something is news again", order)
			}
		}
		if c.Run != 3 || slices.Contains(c.Over, true) || !c.paused() || !c.Made {
			t.Errorf("%v: %+v", order, c)
		}
	}
	c := early.clone()
	if !c.learn(late) || !c.over() || c.Configuration != 5 || c.Config["a.b"] != "5" {
		t.Errorf("of the same run: %+v", c)
	}
	told := late.clone()
	told.Restored = true
	if c := told.clone(); !c.learn(late) || c.Restored || late.learn(told) || late.Restored {
		t.Errorf("what only files have told, and who was there: %+v", c)
	}
}

// A file that was given up no longer counts, even if a node still reports it.
func TestLearnEpochs(t *testing.T) {
	before, after := chartered(2, true, true), chartered(2, false, true)
	after.raise(1, 3)
	if c := before.clone(); !c.learn(after) || c.Epochs[1] != 3 || !c.Over[0] || c.Over[1] {
		t.Errorf("who knew of the old file: %+v", c)
	}
	c := after.clone()
	if c.learn(before); c.Epochs[1] != 3 || !c.Over[0] || c.Over[1] || c.learn(before) {
		t.Errorf("who is told of the old file: %+v", c)
	}
	before.Run = 3
	if c.learn(before); c.Run != 3 || !c.Over[0] || c.Over[1] {
		t.Errorf("who is told of it in the next run: %+v", c)
	}
	if c.raise(1, 3) || c.raise(1, 2) {
		t.Errorf("an epoch comes again: %+v", c)
	}
}

// If two configurations have the same number, the one at the hub gets a new number. A node that knows the other
// configuration notices, even while it reports something else; so does a node with a file of the other one.
func TestEqualNumbers(t *testing.T) {
	cfg := crawltest.Parse(t, surveytest.Minimal)
	known, hub := chartered(1, false, false), chartered(1, false, false)
	known.Configuration, hub.Configuration = 2, 2
	known.Config = digests(cfg.Shared())
	again := func(what string, c *charter) {
		t.Helper()
		if c.Configuration != 3 || !maps.Equal(c.Config, hub.Config) {
			t.Errorf("%s: configuration %d %v", what, c.Configuration, c.Config)
		}
	}
	c := hub.clone()
	if !c.learn(known) || c.learn(known) {
		t.Error("it is news once")
	}
	again("who knew the other one", c)
	m := paperMember("one", known, &forgetful{record: lease.Entry{Value: strictjson.Encode(hub), Revision: 1}, reads: 1 << 30})
	if err := m.note(t.Context(), 0, portion{}, false); err != nil {
		t.Fatal(err)
	}
	again("who has something to tell", m.get())

	o := Options{Folder: t.TempDir(), Config: cfg, Log: slog.New(slog.DiscardHandler),
		Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) }}
	err := makeFile(o.Folder, 0, func(tx *kv.Tx) error {
		return errors.Join(tx.Part.Put(known.part(0)), tx.Runs.PutConfig(cfg.Hash(), cfg.Effective()),
			tx.Runs.Put(schema.Run{ID: 1, Config: cfg.Hash()}))
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFile(&o, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c = hub.clone()
	for _, news := range []bool{true, false} {
		if told, err := c.know(map[int]*file{0: f}); err != nil || told != news {
			t.Errorf("what a file says is news: %t, %v", told, err)
		}
		again("a file", c)
	}
	c = known.clone()
	if _, err := c.know(map[int]*file{0: f}); err != nil || c.Configuration != 2 {
		t.Errorf("a file with the same: configuration %d, %v", c.Configuration, err)
	}
}

// The last stop is learned in any order.
func TestLearnStop(t *testing.T) {
	before, after := chartered(2, false, false), chartered(2, false, false)
	before.Stop = stop{Number: 1, Run: 2, Without: schema.ShardsOf(0)}
	after.Stop = stop{Number: 2, Run: 2, Without: schema.ShardsOf(1)}
	for _, order := range [][2]*charter{{before, after}, {after, before}} {
		c := order[0].clone()
		if news := c.learn(order[1]); c.Stop != after.Stop || news != (order[0] == before) || c.learn(order[1]) {
			t.Errorf("%+v learns %+v: %+v", order[0].Stop, order[1].Stop, c.Stop)
		}
	}
}

// A run can be ended without shards that no node holds, if all other shards answer.
func TestMayStop(t *testing.T) {
	held, silent, free := Shard{Node: "n", Report: &Report{}}, Shard{Node: "n"}, Shard{}
	over := held
	over.Over = true
	tests := []struct {
		name    string
		shards  []Shard
		without []int
		want    error
	}{
		{"nobody has it", []Shard{held, free}, []int{1}, nil},
		{"its node is silent", []Shard{held, silent}, []int{1}, nil},
		{"the others are over", []Shard{over, silent}, []int{1}, nil},
		{"another is silent", []Shard{held, silent, silent}, []int{1}, ErrSilent},
		{"another is nobody's", []Shard{held, silent, free}, []int{1}, ErrSilent},
		{"all are nobody's", []Shard{free, silent, free}, []int{1}, ErrNobody},
		{"all", []Shard{free, silent}, []int{0, 1}, ErrAll},
		{"one that there is not", []Shard{held, free}, []int{1, 2}, ErrShard},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for n := range tt.shards {
				tt.shards[n].Number = n
			}
			tr := &Terrain{Shards: tt.shards}
			if err := tr.mayStop(schema.ShardsOf(tt.without...)); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			tr.Over = true
			if err := tr.mayStop(schema.ShardsOf(tt.without...)); err == nil {
				t.Error("of a run that is over")
			}
		})
	}
	tr := &Terrain{Shards: []Shard{held, held}}
	if err := tr.mayStop(schema.ShardsOf(1)); !errors.As(err, new(*lease.HeldError)) {
		t.Errorf("somebody has it: %v", err)
	}
}

// A run accepts another configuration only until it is over on some shard.
func TestReloadAtTheEnd(t *testing.T) {
	was, other := map[string]string{"crawler.max-depth": "1"}, map[string]string{"crawler.max-depth": "2"}
	for _, tt := range []struct {
		over   []bool
		ending moment
		err    error
	}{
		{[]bool{false, false}, moment{}, nil}, {[]bool{false, false}, moment{3, 1}, ErrEnding},
		{[]bool{false, false}, moment{2, 1}, nil}, {[]bool{true, false}, moment{}, ErrEnding},
		{[]bool{true, true}, moment{3, 1}, ErrOver},
	} {
		c := &charter{Over: tt.over, Config: was, Run: 3, Configuration: 1, Ending: tt.ending}
		changed, err := c.reload(other)
		if !errors.Is(err, tt.err) || changed != (err == nil) || c.Configuration == 2 != changed {
			t.Errorf("over %t, ending %v: changed %t to configuration %d, %v", tt.over, tt.ending, changed, c.Configuration, err)
		}
	}
}

// The files of shards are found whatever the folder's name. A folder that cannot be read does not count as empty.
func TestFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of [2026] *?")
	if shards, err := found(dir); err != nil || shards != nil {
		t.Errorf("no folder: %d, %v", shards, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"shard-003.bolt", "shard-1.bolt", "shard-999.bolt", "shard-010.bolt.bak", "shard-012.bolt",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if shards, err := found(dir); err != nil || !slices.Equal(shards, []int{3, 12}) {
		t.Errorf("%d, %v; want 3 and 12", shards, err)
	}
	if _, err := found(filepath.Join(dir, "shard-003.bolt")); err == nil {
		t.Error("a file passes for an empty folder")
	}
}

// However many nodes come and go, the charter stays small. It forgets those that joined first.
func TestNodesAreForgotten(t *testing.T) {
	c := newCharter(4, map[string]string{})
	name := func(n int) peer { return peer{fmt.Sprintf("%016x", n), "/var/lib/ripple/terrain"} }
	for n := range 5000 {
		if !c.introduce(name(n)) || c.introduce(name(n)) {
			t.Fatalf("node %d is news once", n)
		}
		if n%500 == 0 {
			if _, err := decodeCharter(strictjson.Encode(c)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(c.Nodes); n < 100 || n > 1000 || c.Nodes[n-1] != name(4999) || c.Nodes[0] != name(5000-n) {
		t.Errorf("of %d nodes the first is %v, the last %v", n, c.Nodes[0], c.Nodes[n-1])
	}
	renamed := peer{name(4990).ID, "another"}
	if had := len(c.Nodes); !c.introduce(renamed) || len(c.Nodes) != had || slices.Contains(c.Nodes, name(4990)) {
		t.Errorf("a node with a new name: %d nodes, and there were %d", len(c.Nodes), had)
	}
}

// A reluctant bucket rejects updates until a given moment, but can be read.
type reluctant struct {
	forgetful
	until time.Time
	err   error
}

func (b *reluctant) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if time.Now().Before(b.until) {
		return 0, b.err
	}
	return b.forgetful.Update(ctx, key, value, revision)
}

// If a hub accepts no change, a node keeps trying and logs that once, and a command gives up soon. Neither retries
// a charter that is too large for the hub.
func TestDeafHub(t *testing.T) {
	refusal := errors.New("no answer")
	tests := []struct {
		name  string
		err   error
		node  bool
		want  error
		after time.Duration // approximately
	}{
		{"a node", refusal, true, nil, 5 * time.Minute},
		{"a command", refusal, false, refusal, 30 * time.Second},
		{"a node with too much", lease.ErrTooLarge, true, errCharter, 0},
		{"a command with too much", lease.ErrTooLarge, false, lease.ErrTooLarge, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said bytes.Buffer
				record := lease.Entry{Value: strictjson.Encode(chartered(1, false, false)), Revision: 1}
				r := registry{timing: lease.Of(25 * time.Second), bucket: &reluctant{
					forgetful: forgetful{record: record, reads: 1 << 30},
					until:     time.Now().Add(5 * time.Minute), err: tt.err,
				}}
				if tt.node {
					r.log = slog.New(slog.NewTextHandler(&said, nil))
				}
				began := time.Now()
				pause := func(c *charter) (*charter, error) { c.pause(true); return c, nil }
				c, err := r.change(t.Context(), pause)
				if !errors.Is(err, tt.want) || err == nil && !c.paused() {
					t.Errorf("%v, want %v", err, tt.want)
				}
				if took := time.Since(began); took < tt.after || took > tt.after+2*time.Second {
					t.Errorf("it took %s, want %s", took, tt.after)
				}
				told := strings.Count(said.String(), "no answer")
				if waits := tt.node && tt.after > 0; told > 1 || (told == 1) != waits {
					t.Errorf("it says %q", said.String())
				}
			})
		})
	}
}

// An entry that is added to the end of a list of tables changes nothing but that list.
func TestDigestsOfLists(t *testing.T) {
	before := digests([]byte("[[quality]]\ndomain = \"a.test\"\n\n[content]\ncompress = true\n"))
	after := digests([]byte("[[quality]]\ndomain = \"a.test\"\n\n[[decision]]\nhost = \"b.test\"\n\n\n[content]\n" +
		"compress = true\n"))
	if got := differing(before, after); got != "decision" {
		t.Errorf("%s differ", got)
	}
	after = digests([]byte("[[quality]]\ndomain = \"b.test\"\n[content]\ncompress = true\n"))
	if got := differing(before, after); got != "quality" {
		t.Errorf("%s differ", got)
	}
}

// A node that normalises URLs in another way is refused, and another release that does not is reported.
func TestReleases(t *testing.T) {
	c := chartered(1, false, false)
	c.Config, c.Release = digests((&config.Config{}).Shared()), "v1"
	for _, own := range []string{"v1", "v2"} {
		var said strings.Builder
		j := joining(t.TempDir(), c, &forgetful{record: lease.Entry{Value: strictjson.Encode(c), Revision: 1}, reads: 1 << 30})
		j.Release, j.Log = own, slog.New(slog.NewTextHandler(&said, nil))
		if _, _, err := j.join(t.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said.String(), "different releases") != (own == "v2") {
			t.Errorf("%s at a terrain of v1 says %q", own, said.String())
		}
	}
	c.Normal = "another"
	if _, err := decodeCharter(strictjson.Encode(c)); !errors.Is(err, ErrProtocol) {
		t.Errorf("another normalisation: %v", err)
	}
}
