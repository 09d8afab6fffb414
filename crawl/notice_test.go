package crawl_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
)

const noticeConfig = `
[crawler]
max-depth = 0
minimum-time-on-page = 100
head-check = "never"
sitemaps = "off"
[user-agent]
crawler-name = "NoticeBot"
[network]
ca-file = %q
connect-to = { "*.test" = %q }
[[quality]]
domain = "moved.test"
seeds = ["https://moved.test/"]
[[quality]]
domain = "home.test"
seeds = ["https://home.test/"]
`

// TestNotices: what makes a map smaller than its owner thinks is said at once.
func TestNotices(t *testing.T) {
	s := newServer(t)
	s.Host("moved.test").Redirect("/", "https://elsewhere.test/", 301)
	s.Host("home.test").Page("/", a("https://shop.home.test/", "https://home.test/in", "https://other.test/"))
	s.Host("home.test").Page("/in", a("https://shop.home.test/again"))
	dir := t.TempDir()
	ca, err := s.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	store := openStore(t, filepath.Join(dir, "state.bolt"))
	log := slog.New(slog.NewTextHandler(&out, nil))
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: parse(t, fmt.Sprintf(noticeConfig, ca, s.Addr())), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for text, n := range map[string]int{
		`a seed ends outside its origin" seed=https://moved.test/ at=https://elsewhere.test/`: 1,
		`a subdomain of an origin is not covered" host=shop.home.test pattern=*.home.test`:    1,
		`other.test`: 0,
	} {
		if got := strings.Count(out.String(), text); got != n {
			t.Errorf("%q is said %d times, want %d:\n%s", text, got, n, out.String())
		}
	}
}
