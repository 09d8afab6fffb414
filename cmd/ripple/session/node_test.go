package session

import (
	"os"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Nobody is told to move the files of shards away because a hub knows another terrain: they are a part of the map.
func TestAdviceForAnotherTerrain(t *testing.T) {
	cfg := &config.Config{Cluster: config.Cluster{Folder: t.TempDir()}}
	for _, has := range []bool{false, true} {
		if has {
			if err := os.WriteFile(node.FilePath(cfg.Cluster.Folder, 1), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := term.Complaint(nodeError(cfg, node.ErrTerrain))
		if strings.Contains(text, "keep ") != has || strings.Contains(text, "remove its "+node.MarkName) == has {
			t.Errorf("with shards, %t: %s", has, text)
		}
	}
}
