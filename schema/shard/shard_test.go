package shard_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"

	"github.com/sumi-ripple/ripple/schema/shard"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func rule(t *testing.T, shards int) *shard.Rule {
	t.Helper()
	r, err := shard.New(shards)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNew(t *testing.T) {
	for _, n := range []int{-1, 0, shard.MaxShards + 1} {
		if _, err := shard.New(n); err == nil {
			t.Errorf("New(%d) gives a rule", n)
		}
	}
}

// The results never change between releases: a host never moves.
func TestVectors(t *testing.T) {
	tests := []struct {
		host, site      string
		of4, of8, of256 int
	}{}
	r4, r8, r256 := rule(t, 4), rule(t, 8), rule(t, 256)
	for _, tt := range tests {
		if site := r8.Site(tt.host); site != tt.site {
			t.Errorf("Site(%q) = %q, want %q", tt.host, site, tt.site)
		}
		if of4, of8, of256 := r4.Of(tt.host), r8.Of(tt.host), r256.Of(tt.host); of4 != tt.of4 || of8 != tt.of8 ||
			of256 != tt.of256 {
			t.Errorf("%q: shards %d, %d, %d of 4, 8, 256; want %d, %d, %d", tt.host, of4, of8, of256, tt.of4, tt.of8, tt.of256)
		}
	}
}

// The list, and the results for every suffix and number of shards.
func TestPinnedRule(t *testing.T) {
	list, err := os.ReadFile("suffixes-v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	const wantList = "c764f4ebf50ec138e4dff1a250d606b7feffa3af9022cc0271397e8f58b42d71"
	if sum := sha256.Sum256(list); hex.EncodeToString(sum[:]) != wantList {
		t.Errorf("the list has the SHA-256 %x, want %s", sum, wantList)
	}
	const want = "84f8ae6d9d1b23617b2b38c6e8a156ddec62177be1803c410b7ef2d057befdbf"
	h := sha256.New()
	hosts := hostsOf(string(list))
	for _, n := range []int{1, 2, 3, 4, 8, 16, 100, 255, 256} {
		r := rule(t, n)
		for _, host := range hosts {
			fmt.Fprintf(h, "%s %d %d\n", r.Site(host), n, r.Of(host))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("sites and shards of all suffixes have the SHA-256 %s, want %s", got, want)
	}
}

// hostsOf returns names at, below and next to every suffix of a list.
func hostsOf(list string) []string {
	var hosts []string
	for line := range strings.Lines(list) {
		line = strings.TrimLeft(strings.TrimSpace(line), "!")
		if strings.HasPrefix(line, "//") {
			continue
		}
		name := strings.Replace(line, "*", "any", 1)
		hosts = append(hosts, name, "site."+name, "www.blog.site."+name+":8443")
		if _, parent, ok := strings.Cut(name, "."); ok {
			hosts = append(hosts, "beside."+parent)
		}
	}
	return hosts
}

// While the library has the same list, both agree on every suffix.
func TestAgreesWithLibrary(t *testing.T) {
	if !strings.Contains(publicsuffix.List.String(), "d6c92f1bbb7433e5db7b8405c25d4035fb8ff376") {
		t.Skip("the library has a newer list")
	}
	list, err := os.ReadFile("suffixes-v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := rule(t, 1)
	for _, host := range hostsOf(string(list)) {
		if got, want := r.Site(host), weburl.Site(host); got != want {
			t.Errorf("Site(%q) = %q, want %q", host, got, want)
		}
	}
}

// All hosts of a site are in one shard, and no input makes a rule fail.
func FuzzSite(f *testing.F) {
	for _, host := range []string{"", ".", "a..b", "ck", "www.ck", "a.www.ck", "[::1]:80", "192.0.2.1:8080", "1.2", "::1",
		"x.kawasaki.jp", "city.kawasaki.jp", "me.github.io", "a]:b.example", strings.Repeat("a.", 1000) + "uk"} {
		f.Add(host)
	}
	r, err := shard.New(shard.MaxShards)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host string) {
		site := r.Site(host)
		if again := r.Site(site); again != site && !strings.Contains(site, ":") {
			t.Errorf("the site of %q is %q, whose site is %q", host, site, again)
		}
		if n := r.Of(host); n < 0 || n >= shard.MaxShards {
			t.Errorf("shard %d of %q", n, host)
		}
		if host != site || weburl.Literal(host) != "" || strings.ContainsAny(host, "[") || strings.HasPrefix(host, ".") {
			return // not a name
		}
		if below := r.Site("x." + host); !strings.HasSuffix(below, site) {
			t.Errorf("the site of %q is %q, of one below %q", host, site, below)
		}
	})
}

// Sites are spread evenly: with 8 shards each has about an eighth.
func TestSpread(t *testing.T) {
	r := rule(t, 8)
	var counts [8]int
	const sites = 80_000
	for i := range sites {
		counts[r.Of(fmt.Sprintf("www.site%d.example", i))]++
	}
	for n, count := range counts {
		if count < sites/8*95/100 || count > sites/8*105/100 {
			t.Errorf("shard %d has %d of %d sites", n, count, sites)
		}
	}
}
