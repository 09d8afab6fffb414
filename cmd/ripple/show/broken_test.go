package show

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/export/broken"
)

// TestPrintBroken prints more links than are formatted at a time: the parts fit together.
func TestPrintBroken(t *testing.T) {
	var links []broken.Link
	for page := range 3000 {
		from := &broken.Source{Origin: fmt.Sprintf("Origin %d", page/700), From: fmt.Sprintf("https://a.test/%d", page)}
		for n := range 1 + page%17 {
			to := &broken.Target{To: fmt.Sprintf("https://b.test/%d", n), Why: "gone"}
			links = append(links, broken.Link{Source: from, Target: to})
		}
	}
	for _, n := range []int{0, 1, brokenBlock, brokenBlock + 1, len(links)} {
		var got bytes.Buffer
		if err := Broken(&got, links[:n]); err != nil {
			t.Fatal(err)
		}
		byOrigin := map[string]int{}
		for _, l := range links[:n] {
			byOrigin[l.Origin]++
		}
		if want := appendBroken(nil, links, 0, n, byOrigin); !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d links give %d bytes, which are not the %d of one part", n, got.Len(), len(want))
		}
	}
}
