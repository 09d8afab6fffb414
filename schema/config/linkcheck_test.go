package config

import (
	"errors"
	"strings"
	"testing"
)

// A check keeps how hosts are treated and drops what a configuration says about its own terrain.
func TestLinkCheck(t *testing.T) {
	base, _, err := Parse([]byte(`[crawler]
minimum-time-on-page = 2000
max-subdomains = 1
[user-agent]
crawler-name = "Mine"
contact-email = "ada@example.org"
[output]
map-path = "map.html"
[network]
allow-private = ["10.0.0.0/8"]
[[quality]]
domain = "other.test"
seeds = ["https://other.test/"]
[[blacklist]]
domain = "shut.test"
[[page-type]]
name = "few"
domain = "a.test"
max-per-group = 1
`), "/home/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := LinkCheck{Base: base, URLs: []string{"https://a.test/", "https://a.test/x", "https://b.test/"},
		State: "/tmp/s.bolt", MaxPages: 7}.Config()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Quality) != 2 || c.Quality[0].Name != "a.test" || len(c.Quality[0].Seeds) != 2 || c.Quality[1].Name != "b.test" {
		t.Errorf("the origins are %v", c.Quality)
	}
	if c.Crawler.MaxDepth != 1 || c.Crawler.HeadCheck != HeadOutside || c.Crawler.MaxPages != 7 ||
		c.Crawler.MaxSubdomains != 0 || c.State.Path != "/tmp/s.bolt" || c.Recrawl.Young(0, 1e9) {
		t.Errorf("the limits are %+v", c.Crawler)
	}
	if c.Crawler.MinimumTimeOnPage != base.Crawler.MinimumTimeOnPage || len(c.Network.AllowPrivate) != 1 ||
		len(c.Blacklist) != 1 || c.UserAgentString() != base.UserAgentString() {
		t.Error("settings of the configuration are lost")
	}
	if c.Output.MapPath != "" || len(c.PageTypes) != 0 {
		t.Error("an output or a cap of the configuration is kept")
	}
	var refused *Errors
	_, err = LinkCheck{Base: base, URLs: []string{"https://shut.test/"}, State: "/tmp/s.bolt"}.Config()
	if !errors.As(err, &refused) || !strings.Contains(refused.List[0].Text, "shut.test") {
		t.Errorf("a host on the blacklist: %v", err)
	}
	usual, err := LinkCheck{URLs: []string{"https://a.test/"}, State: "/tmp/s.bolt"}.Config()
	if err != nil || usual.UserAgentString() != "Ripple/1.0" {
		t.Errorf("%q, %v", usual.UserAgentString(), err)
	}
}
