package show

import (
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
)

// For a run that is over, the pages are those that the shards have recorded at the hub, if no shard
// answers.
func TestTerrainOver(t *testing.T) {
	over := func(n, pages int) node.Shard {
		return node.Shard{Number: n, Made: true, Maker: "attic", Over: true, Pages: pages}
	}
	for _, tt := range []struct {
		shards  []node.Shard
		visited string
		row     string
	}{
		{[]node.Shard{over(0, 1200), over(1, 91)}, "1,291 pages visited, 0 to visit; 2 shards on 0 nodes\n", "0      over   1,200"},
		{[]node.Shard{over(0, 1200), over(1, -1)}, "0 to visit; 2 shards on 0 nodes; not counted: 1 shard\n", "1      over         "},
		{[]node.Shard{over(0, 1200), {Number: 1, Over: true, Pages: -1, Report: &node.Report{Over: true,
			Status: census.Status{Pages: 7}}}}, "1,207 pages visited, 0 to visit; 2 shards on 0 nodes\n", "1      over   7"},
	} {
		var out strings.Builder
		s := answer.NewTerrainStats("nats://hub.test:4222", 0, &node.Terrain{Run: 1, Over: true, Shards: tt.shards})
		if err := Terrain(&out, s, time.Now()); err != nil || !strings.Contains(out.String(), tt.visited) ||
			!strings.Contains(out.String(), "\n"+tt.row) {
			t.Errorf("%v: %s; want %q and %q", err, out.String(), tt.visited, tt.row)
		}
	}
}

// A shard that waits for its own machine says so in its row and before other notes.
func TestTerrainWaits(t *testing.T) {
	st := census.Status{Status: "running", Wait: census.Wait{Reason: census.ForDisk}}
	answer.Tell(&st)
	var out strings.Builder
	s := answer.NewTerrainStats("nats://hub.test:4222", 0, &node.Terrain{Run: 1, Shards: []node.Shard{
		{Made: true, Node: "attic", Report: &node.Report{Status: st}}, {Number: 1, Made: true, Maker: "cellar"},
	}})
	if err := Terrain(&out, s, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n0      waiting for the disk  ", "\n\nshard 0 on attic: waiting for the disk\nshard 1 waits for cellar",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
