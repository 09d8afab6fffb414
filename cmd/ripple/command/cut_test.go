package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// A map with missing links or hosts says so in every output.
func TestCutMap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys, page string
		want             map[string]string // by output: a regular expression
	}{
		{"max-links-per-page", "[crawler]\nmax-links-per-page = 2\n", wideHosts(5), map[string]string{
			"crawl": `(?m)^  a\.test: 1 page, 3 links left out \(max-links-per-page = 2\)$`,
			"out.md": `(?s)\*\*This map is partial:\*\* 1 domain was cut, 3 links left out\..*` +
				`- a\.test: 1 page, 3 links left out \(max-links-per-page = 2\)`,
			"out.json": `(?s)"links_omitted": 3,.*"domain": "a\.test",[^}]*"known_missing": 0,\s*"links_omitted": 3,` +
				`\s*"coverage": "3 links left out \(max-links-per-page = 2\)"`,
			"query":        `(?m)^a\.test +3 links left out \(max-links-per-page = 2\) +0 +3 +0$`,
			"stats":        `2 links \(and 3 left out\)`,
			"stats --json": `(?s)"links_omitted": 3,.*"cut_sites": \[\]`,
			"inspect":      `and 3 links left out`,
			"feed":         `"links_omitted":3`,
			"graph":        `partial: 1 host cut, 3 links left out`,
			"summary":      `3 links left out`,
		}},
		{"the default", "", wideHosts(10_002), map[string]string{
			"crawl":  `(?m)^  a\.test: 1 page, [0-9]+ links left out`,
			"out.md": `\(max-links-per-page = 10000\)`,
			"query": `(?m)^a\.test +2 links left out \(max-links-per-page = 10000\), ` +
				`9,000 links left out \(max-hosts-.* 9002 +0$`,
		}},
		{"max-hosts-per-site", "[traps]\nmax-hosts-per-site = 2\n", wideHosts(5), map[string]string{
			"crawl": `(?s)  wide\.test: 2 hosts, 3 links to further ones left out \(max-hosts-per-site = 2\)\n.*` +
				`  3 links were met and left out`,
			"out.md": `(?s)\*\*This map is partial:\*\* hosts of 1 site not recorded, 3 links left out\..*` +
				`- wide\.test: 2 domains, 3 links to further ones left out \(max-hosts-per-site = 2\)`,
			"out.json": `(?s)"cut_sites": \[\s*\{\s*"site": "wide\.test",\s*"hosts": 2,\s*"overflow": 3,` +
				`\s*"limit": "max-hosts-per-site = 2"`,
			"query":        `(?m)^a\.test +complete +0 +3 +0$`,
			"sites":        `(?m)^wide\.test +2 +3$`,
			"stats":        `(?m)^wide\.test: 2 hosts, 3 links to further ones left out`,
			"stats --json": `(?s)"cut_sites": \[\s*\{\s*"site": "wide\.test"`,
			"graph":        `partial: 1 site cut, 3 links left out`,
			"site graph":   `partial: further hosts are not recorded`,
		}},
		{"no URLs", "", wideHosts(5) + link("https://xn--a/", "label") + link("https://a&#0;b/", "NUL") +
			link("/"+strings.Repeat("x", 3000), "long") + link("/"+strings.Repeat("x", 1<<20), "endless"), map[string]string{
			"crawl": `(?m)^  4 links left out: no URL, or longer than max-length`,
			"out.md": `Every domain within reach was crawled to the end\.\n` +
				`4 links left out: no URL, or longer than max-length = 2048\.`,
			"out.json": `(?s)"links_omitted": 4,.*"links_omitted": 4,\s*"coverage": "complete"`,
			"query":    `(?m)^a\.test +complete +0 +4 +0$`,
			"stats":    `5 links \(and 4 left out\)`,
			"inspect":  `and 4 links left out`,
			"feed":     `"links_omitted":4`,
			"summary":  `4 links left out`,
		}},
		{"no URLs beside links beyond a limit", "[crawler]\nmax-links-per-page = 2\n", wideHosts(5) + link("https://[/", "x"),
			map[string]string{
				"out.md": `(?s)\*\*This map is partial:\*\* 1 domain was cut, 3 links left out\.\n1 link left out: no URL`,
				"query": `(?m)^a\.test +3 links left out \(max-links-per-page = 2\), ` +
					`1 link left out \(no URL, or max-leng… +0 +4 +0$`,
				"graph": `partial: 1 host cut, 3 links left out`,
			}},
		{"nothing", "", wideHosts(5), map[string]string{
			"out.md":   `Every domain within reach was crawled to the end\.`,
			"out.json": `(?s)"links_omitted": 0,.*"cut_sites": \[\]`,
			"query":    `(?m)^a\.test +complete +0 +0 +0$`,
			"sites":    `(?m)^wide\.test +5 +0$`,
			"stats":    `5 links;`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			told := cutOutputs(t, tt.keys, tt.page)
			for output, want := range tt.want {
				if !regexp.MustCompile(want).MatchString(told[output]) {
					t.Errorf("%s does not match %s:\n%.3000s", output, want, told[output])
				}
			}
			for output, text := range told {
				if tt.name == "nothing" && regexp.MustCompile(`left out|partial:`).MatchString(text) {
					t.Errorf("%s tells of a cut map:\n%.3000s", output, text)
				}
			}
		})
	}
}

// wideHosts is a page that links to n hosts of a site.
func wideHosts(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(link(fmt.Sprintf("https://h%d.wide.test/", i), "h"))
	}
	return b.String()
}

// cutOutputs crawls one page under a configuration, and returns all outputs.
func cutOutputs(t *testing.T, keys, page string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	web := rippletest.NewWeb(t)
	web.Host("a.test").Robots("")
	web.Host("a.test").Page("/", page)
	path := rippletest.WriteConfig(t, web, dir, false)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Replace(string(text), "max-depth = 2", "max-depth = 0", 1)
	switch {
	case strings.HasPrefix(keys, "[crawler]\n"):
		whole = strings.Replace(whole, "[crawler]\n", keys, 1)
	default:
		whole = keys + whole
	}
	if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	graph, sites := filepath.Join(dir, "graph.gexf"), filepath.Join(dir, "sites.gexf")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"crawl", []string{"crawl", path}},
		{"stats", []string{"stats"}}, {"stats --json", []string{"stats", "--json"}}, {"summary", []string{"summary"}},
		{"inspect", []string{"inspect", "https://a.test/"}}, {"feed", []string{"feed"}},
		{"query", []string{"query", "SELECT domain, coverage, known_missing, links_omitted, (SELECT 0) AS zero FROM hosts"}},
		{"sites", []string{"query", "SELECT site, hosts, overflow FROM sites"}},
		{"export", []string{"export", "--gexf", graph}},
		{"export sites", []string{"export", "--level", "site", "--gexf", sites}},
	} {
		var out, errs bytes.Buffer
		args := c.args
		if c.name != "crawl" {
			args = append(args, "--config", path)
		}
		if err := New(&out, &errs).Run(t.Context(), args); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		told[c.name] = out.String() + errs.String()
	}
	for name, file := range map[string]string{
		"graph": graph, "site graph": sites, "out.md": filepath.Join(dir, "out.md"),
		"out.json": filepath.Join(dir, "out.json"),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		told[name] = string(text)
	}
	return told
}

// Links that an earlier run left out, on pages that are kept, are reported by later runs, once and
// under any limits, until the pages are read again.
func TestCutMapLater(t *testing.T) {
	t.Parallel()
	const (
		low  = "max-links-per-page = 7\n[traps]\nmax-hosts-per-site = 2\nmax-urls-per-host = 3\n"
		high = "max-links-per-page = 99\n[traps]\nmax-hosts-per-site = 9\nmax-urls-per-host = 9\n"
		anew = "[recrawl]\nmin-age = \"0s\"\n"
		cut  = "\"1 not recorded (max-urls-per-host = 3), 2 links left out (max-links-per-page = 7)\",1,5,2,2\n"

		question = "SELECT h.coverage, h.known_missing, h.links_omitted, s.hosts, s.overflow FROM hosts h, sites s " +
			"WHERE h.domain = 'a.test' AND s.site = 'wide.test'"
	)
	dir := t.TempDir()
	web := rippletest.NewWeb(t)
	a := web.Host("a.test")
	a.Robots("")
	text := ""
	for i := range 4 {
		text += link(fmt.Sprintf("https://h%d.wide.test/", i), "h")
	}
	for i := range 4 {
		text += link(fmt.Sprintf("/%d", i), "p")
	}
	a.Page("/", text+link("https://b.test/", "b"))
	path := rippletest.WriteConfig(t, web, dir, false)
	plain, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range []struct{ keys, want string }{
		{low, cut}, {low, cut}, {low + anew, cut}, {low + anew, cut},
		{high, strings.Replace(cut, " = 3)", " of an earlier run)", 1)},
		{high + anew, "complete,0,0,4,0\n"},
	} {
		keys, tables, _ := strings.Cut(run.keys, "[")
		config := strings.Replace(string(plain), "max-depth = 2\n", "max-depth = 0\n"+keys, 1) + "[" + tables
		if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		for _, args := range [][]string{{"crawl", path}, {"query", "--csv", "--config", path, question}} {
			if err := New(&out, &errs).Run(t.Context(), args); err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
		}
		if _, got, _ := strings.Cut(out.String(), "\n"); got != run.want {
			t.Errorf("run %d: %swant %s", i+1, got, run.want)
		}
	}
}

// Pages that the second run no longer sees are in the graph of all runs with the run that saw them,
// and in the summary of the first run only.
func TestVanished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	web := rippletest.NewWeb(t)
	a := web.Host("a.test")
	a.Page("/", link("/one", "One")+link("https://forge.test/gone", "Gone")+link("https://forge.test/me", "Code"))
	path := rippletest.WriteConfig(t, web, dir, false)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append([]byte("[recrawl]\nmin-age = \"0s\"\n"), text...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	ripple := func(args ...string) string {
		var out, errs bytes.Buffer
		if err := New(&out, &errs).Run(t.Context(), append(args, "--config", path)); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		return out.String()
	}
	ripple("crawl")
	a.Page("/", link("/two", "Two")+link("https://forge.test/me", "Code"))
	ripple("crawl")
	graph := filepath.Join(dir, "all.jsonl")
	for run, want := range map[string]int{"all": 1, "latest": 0} {
		ripple("export", "--level", "page", "--run", run, "--jsonl", graph)
		text, err := os.ReadFile(graph)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{
			`(?m)^\{"type":"node".*"https://forge\.test/gone".*"first_run":1,"last_run":1`,
			`(?m)^\{"type":"edge".*"anchor":"One".*"first_run":1,"last_run":1`,
			`(?m)^\{"type":"node".*"https://a\.test/three".*"first_run":1,"last_run":1`,
		} {
			if got := len(regexp.MustCompile(pattern).FindAllString(string(text), -1)); got != want {
				t.Errorf("--run %s: %d lines match %s; want %d\n%s", run, got, pattern, want, text)
			}
		}
	}
	for run, want := range map[string]string{"1": "Stubbed URLs Found | 2 |", "2": "Stubbed URLs Found | 1 |"} {
		if got := ripple("summary", "--run", run); !strings.Contains(got, want) {
			t.Errorf("summary of run %s has no %q:\n%s", run, want, got)
		}
	}
}
