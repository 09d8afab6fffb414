package render

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
)

func TestMain(m *testing.M) {
	sidebyside.Tests(4) // they mostly wait for slow pages
	os.Exit(m.Run())
}
