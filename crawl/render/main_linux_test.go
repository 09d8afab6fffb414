package render

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
)

func TestMain(m *testing.M) {
	sidebyside.Tests(4) // they pass their time with pages that take theirs
	os.Exit(m.Run())
}
