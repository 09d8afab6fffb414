package merge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/schema"
)

// A queued or pending URL that a shard does not have is damage.
func TestStoresForged(t *testing.T) {
	for name, forge := range map[string]func(tx *kv.Tx, h *schema.Host) error{
		"a try": func(tx *kv.Tx, h *schema.Host) error {
			h.Retries = []schema.Retry{{URL: 1 << 20}}
			tx.Hosts.Put(h)
			return nil
		},
		"a relaxation": func(tx *kv.Tx, _ *schema.Host) error { return tx.Depths.SetPending([]schema.ID{1 << 20}) },
		"a visit": func(tx *kv.Tx, _ *schema.Host) error {
			_, err := tx.Visits.Add(&schema.Visit{URL: 1, Run: 9, State: schema.Processed})
			return err
		},
	} {
		names := hosts(t)
		a, b := twoShards(t, names)
		a.update(func(tx *kv.Tx) error {
			id, _, err := tx.Hosts.Lookup(names[0])
			if err != nil {
				return err
			}
			h, err := tx.Hosts.At(id)
			return errors.Join(err, forge(tx, h))
		})
		if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, newMerged(t), nil); !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Files that do not make up a whole terrain are refused, and nothing is written.
func TestStoresRefused(t *testing.T) {
	another := part(1)
	another.Terrain[0] = 2
	three, many, merged := part(1), part(2), part(0)
	merged.Without = schema.ShardsOf(1)
	three.Shards, many.Shards = 3, 20
	for name, v := range map[string]struct {
		parts   []schema.Part
		why     string
		without []int
	}{
		"none":                {parts: nil, why: "there are none"},
		"a whole terrain":     {parts: []schema.Part{part(0), {}}, why: "b holds a whole terrain"},
		"never crawled":       {parts: []schema.Part{part(0), {}}, why: "b was never crawled, so it does not know which shard it is"},
		"first of all":        {parts: []schema.Part{{}, part(0)}, why: "a holds a whole terrain"},
		"one of two":          {parts: []schema.Part{part(0)}, why: "of shards 0 to 1 these are missing: 1"},
		"one of many":         {parts: []schema.Part{many}, why: "of shards 0 to 19 these are missing: 0, 1, 3-19"},
		"the same twice":      {parts: []schema.Part{part(1), part(1)}, why: "a and b are both shard 1"},
		"another terrain":     {parts: []schema.Part{part(0), another}, why: "b is of another terrain than a"},
		"of two and of three": {parts: []schema.Part{part(0), three}, why: "b is one of 3, a one of 2"},
		"of three and of two": {parts: []schema.Part{three, part(0)}, why: "b is one of 2, a one of 3"},
		"too many":            {parts: []schema.Part{part(0), part(1), part(1)}, why: "b and c are both shard 1"},
		"left out and there":  {[]schema.Part{part(0), part(1)}, "b is shard 1, which was to be left out", []int{1}},
		"all left out":        {[]schema.Part{part(0), part(1)}, "a is shard 0, which was to be left out", []int{0, 1}},
		"another left out":    {[]schema.Part{part(0)}, "there is no shard 2 to be left out: they are 0 to 1", []int{1, 2}},
		"too few left out":    {[]schema.Part{three}, "of shards 0 to 2 these are missing: 2", []int{0}},
		"merged already":      {[]schema.Part{part(0), merged}, "b was merged without shard 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var files []*file
			for _, p := range v.parts {
				f := newFile(t, p)
				if p == (schema.Part{}) && name != "never crawled" {
					f.see(1, hosts(t)[0], "/", "", 1)
				}
				files = append(files, f)
			}
			dst := newMerged(t)
			err := merge.Stores(t.Context(), named(files...), schema.ShardsOf(v.without...), dst, nil)
			if !errors.Is(err, merge.ErrShards) || !strings.HasSuffix(err.Error(), ": "+v.why) {
				t.Errorf("%v; want: %s", err, v.why)
			}
			if dst.LastCommit() != 0 {
				t.Error("something is written")
			}
		})
	}
}

// Of two files of a shard, one that was given to another machine is left out, in any order. It is used if it is the only
// one, and the map is not marked.
func TestStoresGiven(t *testing.T) {
	names := hosts(t)
	for name, order := range map[string][]int{"first": {0, 1, 2}, "last": {2, 1, 0}, "alone": {0, 1}} {
		files := []*file{newFile(t, part(0)), newFile(t, part(1)), newFile(t, part(0))}
		files[0].update(func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaGiven, []byte("{}")) })
		files[2].see(1, names[0], "/later", "", 1)
		var in []*file
		for _, n := range order {
			in = append(in, files[n])
		}
		dst := newMerged(t)
		if err := merge.Stores(t.Context(), named(in...), schema.Shards{}, dst, nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if urls := dst.URLs(); urls > 0 != (len(in) == 3) {
			t.Errorf("%s: the map has %d URLs", name, urls)
		}
		view(t, dst, func(tx *kv.Tx) error {
			mark, err := tx.Meta.Value(kv.MetaGiven)
			if mark != nil {
				t.Errorf("%s: the map is marked", name)
			}
			return err
		})
	}
}

// An older copy of a file is refused, with the names of that file and of the one that knows a later commit of it.
func TestStoresOlder(t *testing.T) {
	names := hosts(t)
	for _, tt := range []struct {
		name       string
		knows      func(schema.Opening, uint64) (schema.Opening, uint64) // what the other shard knows
		live, anew bool
		older      bool
	}{
		{name: "the newest", knows: func(o schema.Opening, n uint64) (schema.Opening, uint64) { return o, n }},
		{name: "one commit older", older: true,
			knows: func(o schema.Opening, n uint64) (schema.Opening, uint64) { return o, n + 1 }},
		{name: "opened since", older: true,
			knows: func(_ schema.Opening, n uint64) (schema.Opening, uint64) { return schema.Opening{9}, n }},
		{name: "copied while it is crawled", live: true,
			knows: func(o schema.Opening, n uint64) (schema.Opening, uint64) { return o, n + 100 }},
		{name: "opened since, and crawled", live: true, older: true,
			knows: func(_ schema.Opening, n uint64) (schema.Opening, uint64) { return schema.Opening{9}, n + 100 }},
		{name: "nothing is known",
			knows: func(schema.Opening, uint64) (schema.Opening, uint64) { return schema.Opening{}, 0 }},
		{name: "recreated", anew: true,
			knows: func(_ schema.Opening, n uint64) (schema.Opening, uint64) { return schema.Opening{9}, n + 100 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := twoShards(t, names)
			var opening schema.Opening
			b.update(func(tx *kv.Tx) (err error) {
				if tt.anew {
					err = tx.Meta.Put(kv.MetaRecreatedAt, []byte("2026-01-02T03:04:05Z"))
				}
				if err == nil {
					opening, err = tx.Openings.Begin()
				}
				return err
			})
			var peer schema.Peer
			peer.Opening, peer.Commit = tt.knows(opening, b.store.LastCommit())
			a.update(func(tx *kv.Tx) error { return tx.Peers.Put(1, peer) })
			shards, dst := named(a, b), newMerged(t)
			shards[1].Live = tt.live
			err := merge.Stores(t.Context(), shards, schema.Shards{}, dst, nil)
			want := &merge.OlderError{}
			if errors.As(err, &want) != tt.older || !tt.older && err != nil {
				t.Fatalf("%v; older: %t", err, tt.older)
			}
			if tt.older && (*want != merge.OlderError{Name: "b", Shard: 1, By: "a"} || dst.LastCommit() != 0) {
				t.Errorf("%v, after %d commits", err, dst.LastCommit())
			}
		})
	}
}
