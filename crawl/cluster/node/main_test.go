package node_test

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	sidebyside.Tests(8) // more, and a busy machine loses leases
	os.Exit(m.Run())
}
