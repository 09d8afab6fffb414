package schema_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// A run names each version of each table once.
func TestJudgedBy(t *testing.T) {
	var r schema.Run
	for _, used := range [][2]string{{"walls", "1"}, {"walls", "1"}, {"walls", "11"}, {"parked", "1"}, {"walls", "1"}} {
		r.JudgedBy(used[0], used[1])
	}
	if r.Rules != "walls 1, walls 11, parked 1" {
		t.Errorf("rules %q", r.Rules)
	}
}
