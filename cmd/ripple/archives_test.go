package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// TestArchives runs the examples of "ripple help archives" with an archive of a blog, what is left of it, and a web
// graph.
func TestArchives(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("blog.test").Page("/", crawltest.Anchors("/about"))
	s.Host("blog.test").Page("/about", "<title>About</title>")
	s.Host("friend.test").Page("/", "<title>Still here</title>")
	config, _ := crawltest.Files(t, s, `[pages]
keep = true
path = "pages"
[[quality]]
domain = "blog.test"
seeds = ["https://blog.test/"]
[[blacklist]]
domain = "counter.test"
`)
	var w bytes.Buffer
	front := "<main>" + crawltest.Anchors("/about", "/post", "http://friend.test/") + "</main>"
	for _, page := range [][3]string{{"http://blog.test/", "2015-02-01", front},
		{"http://blog.test/about", "2015-02-01", "<title>About</title>"},
		{"http://counter.test/", "2015-02-01", "<title>Visitor 7</title>"},
		{"http://blog.test/post", "2015-03-01", "<title>A post</title>"}} {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page[2]
		z := gzip.NewWriter(&w)
		fmt.Fprintf(z, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %sT00:00:00Z\r\n"+
			"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			page[0], page[1], len(block), block)
		z.Close()
	}
	dir := filepath.Dir(config)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	reading := bytes.ReplaceAll(text, []byte("state.bolt"), []byte("reading.bolt"))
	if err := os.WriteFile(filepath.Join(dir, "reading.toml"), reading, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "blog-2015.warc.gz"), w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for list, lines := range map[string]string{
		"vertices": "0\texample.far\n1\texample.news\n2\texample.quiet\n3\ttest.blog\n4\ttest.friend\n5\ttest.friend.www\n",
		"edges":    "0\t3\n1\t3\n1\t4\n3\t4\n4\t3\n5\t3\n2\t4\n",
		"ranks": "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n12\t1.5E7\t30\t1.0E-5\texample.news\n" +
			"4711\t1.1E7\t900\t2.0E-7\texample.far\n",
	} {
		name := filepath.Join(dir, "cc-main-2024-may-host-"+list+".txt")
		if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sixSites(t, s, dir)
	for _, topic := range docs.Topics() {
		if topic.Name == "archives" && runConsole(t, topic.Text, dir) < 10 {
			t.Error("the example is gone")
		}
	}
}

// sixSites writes six.toml, with six sites, and a web graph of domains into a folder.
func sixSites(t *testing.T, s *webtest.Server, dir string) {
	t.Helper()
	var text strings.Builder
	vertices := "0\texample.almanac\t3\n1\texample.quiet\t1\n2\texample.reader\t2\n3\torg.visitor\t1\n"
	for i, name := range []string{"choir", "garden", "maps", "museum", "radio", "walks"} {
		s.Host(name+".test").Page("/", "<title>"+name+"</title>")
		fmt.Fprintf(&text, "[[quality]]\ndomain = \"%s.test\"\nseeds = [\"https://%[1]s.test/\"]\n", name)
		if name != "walks" {
			vertices += fmt.Sprintf("%d\ttest.%s\t1\n", i+4, name)
		}
	}
	config, _ := crawltest.Files(t, s, text.String())
	six, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"six.toml": string(six), "cc-main-2024-may-domain-vertices.txt": vertices,
		"cc-main-2024-may-domain-edges.txt": "0\t5\n0\t6\n0\t7\n1\t0\n2\t4\n2\t8\n3\t5\n3\t7\n5\t7\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
