package node_test

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
)

func TestMain(m *testing.M) {
	crawltest.InMemory()
	sidebyside.Tests(8) // more, and a busy machine loses leases
	os.Exit(m.Run())
}
