package crawl

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A keyRow shows that a key takes effect: one web, two values, and an observation that differs as
// stated.
type keyRow struct {
	key          string // section.key
	a, b         string // values; "": the key is absent
	web          map[string]reply
	with         string // further lines, each "section.key = value" or a whole table
	see          func(*paperServers) string
	seenA, seenB string
}

// serve answers for every host from the row's web: "host/path" -> reply. A host's robots.txt is
// missing unless the web has it.
func (row keyRow) serve(s *paperServers) {
	s.other = func(q question) reply {
		if r, ok := row.web[q.host+q.path]; ok {
			return r
		}
		if r, ok := row.web[fmt.Sprintf("%s%s#%d", q.host, q.path, q.n)]; ok { // for the nth request
			return r
		}
		return reply{status: 404}
	}
}

// text returns the configuration with the key set to a value.
func (row keyRow) text(value string) string {
	sections := map[string][]string{
		"crawler":    {`head-check = "never"`, `sitemaps = "off"`},
		"user-agent": {`crawler-name = "T"`},
		"politeness": {`minimum-time-per-address = "0s"`},
		"quality":    {`domain = "a.test"`, `seeds = ["https://a.test/"]`},
	}
	set := func(key, value string) {
		section, name, _ := strings.Cut(key, ".")
		lines := slices.DeleteFunc(sections[section], func(l string) bool { return strings.HasPrefix(l, name+" ") })
		sections[section] = append(lines, name+" = "+value)
	}
	var tables string
	for line := range strings.Lines(row.with) {
		if strings.HasPrefix(line, "[") || tables != "" {
			tables += line
		} else if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			set(key, value)
		}
	}
	if value != "" {
		set(row.key, value)
	}
	var b strings.Builder
	for _, section := range []string{"crawler", "user-agent", "url", "traps", "retry", "politeness", "content",
		"network", "recrawl", "quality", "blacklist", "stub", "page-type", "extract"} {
		if len(sections[section]) == 0 {
			continue
		}
		header := "[" + section + "]"
		if slices.Contains([]string{"quality", "blacklist", "stub", "page-type", "extract"}, section) {
			header = "[" + header + "]"
		}
		b.WriteString(header + "\n" + strings.Join(sections[section], "\n") + "\n")
	}
	return b.String() + tables
}

func (row keyRow) observe(t *testing.T, value string) string {
	var seen string
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.begun = time.Now()
		row.serve(s)
		s.crawl(row.text(value), 0)
		seen = row.see(s)
	})
	return seen
}

// TestKeys crawls a small web twice for every key, with two values.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, row := range slices.Concat(crawlerKeys(), trapKeys(), politenessKeys(), listKeys(t)) {
		t.Run(row.key, func(t *testing.T) {
			if row.seenA == row.seenB {
				t.Fatal("the two values are to be told apart")
			}
			if got := row.observe(t, row.a); got != row.seenA {
				t.Errorf("%s = %s: %s, want %s", row.key, row.a, got, row.seenA)
			}
			if got := row.observe(t, row.b); got != row.seenB {
				t.Errorf("%s = %s: %s, want %s", row.key, row.b, got, row.seenB)
			}
		})
	}
}

// keysElsewhere lists the keys that other tests cover, and why.
func keysElsewhere() map[string]string {
	byNetwork := "TestNetworkKeys, over real sockets"
	exports := "not the crawl's: outputs, commands and exports"
	byDesk, byNode := "not the crawl's: package desk", "not the crawl's: packages node and hub"
	return map[string]string{
		"crawler.max-run-time":       "TestMaxRunTime",
		"user-agent.accept-language": byNetwork, "quality.sitemaps": "TestSitemapSpeaks",
		"user-agent.crawler-version": byNetwork, "user-agent.contact-url": byNetwork,
		"user-agent.contact-email": byNetwork,
		"retry.timeout":            byNetwork, "retry.connect-timeout": byNetwork,
		"retry.timeout-step": "TestTimeoutStep", "content.max-response-bytes": byNetwork, "content.compress": byNetwork,
		"network.memory-limit": "not the crawl's: the command sets it, TestMemoryLimit",
		"network.proxy":        byNetwork, "network.ca-file": byNetwork, "network.connect-to": byNetwork,
		"network.allow-private": byNetwork, "network.http2": byNetwork, "network.keep-alive": byNetwork,
		"state.path": exports, "output.database-path": exports, "output.summary-path": exports,
		"output.graph-path": exports, "output.map-path": exports,
		"pages.keep": exports, "pages.path": exports,
		"render.mode": "TestRenderingLeftAlone", "render.domains": "TestRenderingLeftAlone",
		"render.max-browsers": "TestRenderingOneDigest", "render.max-requests": "TestRenderingRefused",
		"render.timeout": "TestRenderingLimits", "render.browser": "TestRenderingNoBrowser",
		"render.sandbox": "TestRenderingNoBrowser",
		"monitor.listen": byDesk, "monitor.token-file": byDesk, "monitor.hosts": byDesk, "monitor.cert-file": byDesk,
		"monitor.key-file": byDesk, "monitor.webhook": exports,
		"monitor.webhook-secret-file": exports, "decisions.file": "TestDecisions, of package config",
		"monitor.metrics-csv": exports, "monitor.report-path": exports,
		"cluster.hub": byNode, "cluster.shards": byNode, "cluster.folder": byNode, "cluster.max-shards": byNode,
		"cluster.credentials": byNode, "cluster.ca-file": byNode, "cluster.lease": "TestLeaseIsFixed, of package node",
		"entity.domain": exports, "entity.by": exports, "entity.with": exports, "checks.soft-404": "TestMissingPages",
		"politeness.minimum-time-per-address": "TestPerAddress",
		"quality.domain":                      "every test", "quality.seeds": "every test",
	}
}

// TestEveryKeyIsCovered reads the keys from the commented configuration.
func TestEveryKeyIsCovered(t *testing.T) {
	covered := keysElsewhere()
	for _, row := range slices.Concat(crawlerKeys(), trapKeys(), politenessKeys(), listKeys(t)) {
		covered[row.key] = "TestKeys"
	}
	section, known := "", 0
	header, key := regexp.MustCompile(`^(?:# )?\[+([a-z-]+)\]+`), regexp.MustCompile(`^(?:# )*([a-z0-9-]+) = `)
	for line := range strings.Lines(config.Sample()) {
		if m := header.FindStringSubmatch(line); m != nil {
			section = m[1]
		} else if m := key.FindStringSubmatch(line); m != nil {
			known++
			if name := section + "." + m[1]; covered[name] == "" {
				t.Errorf("%s has no test", name)
			} else {
				delete(covered, name)
			}
		}
	}
	if known < 70 {
		t.Errorf("%d keys found", known)
	}
	for name := range covered {
		if !strings.HasPrefix(name, "stub.") && !strings.HasPrefix(name, "blacklist.") {
			t.Errorf("%s is no key", name)
		}
	}
}

// What the rows observe.

func askedOf(host string) func(*paperServers) string {
	return func(s *paperServers) string {
		var all []string
		for _, e := range only(s.log, host) {
			if e.Path != "/robots.txt" && !slices.Contains(all, e.Path) {
				all = append(all, e.Path)
			}
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
}

func requestsOf(host string) func(*paperServers) string {
	return func(s *paperServers) string { return fmt.Sprint(len(only(s.log, host))) }
}

func hostsAsked(s *paperServers) string {
	hosts := map[string]bool{}
	for _, e := range s.log {
		hosts[e.Host] = true
	}
	return fmt.Sprint(len(hosts))
}

func mostOpen(s *paperServers) string {
	most := 0
	for i, e := range s.log {
		open := 1
		for j, o := range s.log {
			if i != j && !o.Arrived.After(e.Arrived) && o.Done.After(e.Arrived) {
				open++
			}
		}
		most = max(most, open)
	}
	return fmt.Sprint(most)
}

func wholeSeconds(s *paperServers) string {
	return fmt.Sprint(int(time.Since(s.begun).Seconds() + 0.01))
}

func visitOf(url string, what func(*paperServers, string) string) func(*paperServers) string {
	return func(s *paperServers) string { return what(s, "https://"+url) }
}

func stateAndTitle(s *paperServers, url string) string {
	v, ok := s.visits()[url]
	if !ok {
		return "not visited"
	}
	return strings.TrimSpace(v.State.String() + " " + v.Title)
}

func known(s *paperServers) string {
	var n int
	s.view(func(store *kv.Store, _ *kv.Tx) error { n = store.URLs(); return nil })
	return fmt.Sprint(n)
}

func knownHosts(s *paperServers) string {
	var n int
	s.view(func(store *kv.Store, _ *kv.Tx) error { n = store.Hosts(); return nil })
	return fmt.Sprint(n)
}

// listFile writes a file of names and returns it as a TOML value.
func listFile(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%q", path)
}
