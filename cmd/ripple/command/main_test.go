package command

import (
	"fmt"
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	crawltest.WithoutSystemRoots()
	sidebyside.Tests(10) // these tests mostly wait for the delays of hosts
	os.Exit(m.Run())
}

func link(href, text string) string { return fmt.Sprintf("<a href=%q>%s</a>\n", href, text) }
