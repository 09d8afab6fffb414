package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// menu is a script that adds links to a page, from another host.
const menu = `
fetch("https://api.menu.test/" + location.hostname + ".json").then((answer) => answer.json()).then((links) => {
  document.getElementById("root").innerHTML = links.map((to) => '<a href="' + to + '">' + to + "</a>").join(" ");
});
`

// Two machines, each with a browser, render what one machine does, though scripts and data of every
// page are on hosts of another shard.
func TestMachinesRender(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip(err)
	}
	web := crawltest.Serve(t, webtest.WithoutLog())
	web.Host("cdn.menu.test").Page("/menu.js", menu).Type("text/javascript")
	text := crawltest.Config(t, web, fmt.Sprintf("[render]\nmode = \"auto\"\nmax-browsers = 1\nsandbox = %t\n"+
		"timeout = \"5m\"\n", os.Getuid() != 0))
	const hosts = 3
	for i := range hosts {
		host := fmt.Sprintf("app%d.test", i)
		web.Host(host).Page("/", crawltest.Shell("https://cdn.menu.test/menu.js"))
		web.Host(host).Page("/shown", "<title>shown</title>")
		web.Host("api.menu.test").Page("/"+host+".json", fmt.Sprintf(`["/shown", "https://app%d.test/"]`, (i+1)%hosts)).
			Type("application/json")
		text += fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", host, host)
	}
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	machines, alone := machinesFor(t, server.URL(), 2, text)
	for _, m := range machines {
		m.start()
	}
	sameAsAlone(t, alone, machines...)
	out, err := ripple("query", "--state", filepath.Join(filepath.Dir(alone), "alone.bolt"), "--json",
		"SELECT count(*) AS n FROM pages WHERE url LIKE '%/shown' AND state = 'processed'").Output()
	if err != nil || !strings.Contains(string(out), fmt.Sprint(hosts)) {
		t.Errorf("of the pages that only scripts link to: %s, %v", out, err)
	}
}
