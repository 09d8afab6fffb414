package node_test

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
)

func TestMain(m *testing.M) {
	sidebyside.Tests(12) // they pass their time with leases
	os.Exit(m.Run())
}
