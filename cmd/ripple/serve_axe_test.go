package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// axeVersion is the release of axe-core, which finds violations of the guidelines for accessible pages.
const axeVersion = "axe-core@4.10.3"

// axe returns the script of axe-core. It skips the test if npm cannot install it.
func axe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil || testing.Short() {
		t.Skip("npm is not installed; nothing is checked with axe-core")
	}
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), npm, "install", "--prefix", dir, "--no-save", "--no-audit", "--no-fund",
		"--fetch-retries", "0", axeVersion)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm does not install %s, and nothing is checked with it: %v: %.300s", axeVersion, err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// A violation is a rule that elements of a page break.
type violation struct {
	Rule  string   `json:"rule"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// No view of the desk breaks a rule of axe-core: views with a grid, a chart, a form or a map, light and wide. Under
// RIPPLE_PROOF=full these are all views, also dark and narrow.
func TestDeskIsAccessible(t *testing.T) {
	t.Parallel()
	script := axe(t)
	dir := filepath.Join(t.TempDir(), "demo")
	if out, err := ripple("demo", "-q", "--dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	state := filepath.Join(dir, "ripple.bolt")
	graph := rippletest.WebGraph(t, dir, "test.hedgerow-journal")
	if out, err := ripple("import", "--graph", graph, "--state", state).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d := serveConfig(t, state, filepath.Join(dir, "config.toml"))
	const host = "tidewater-maps.test"
	views := map[string]string{
		"now":                              `document.querySelector("#view .bars")`,
		"hosts":                            `document.querySelector(".grid-rows [aria-rowindex]")`,
		"host/" + host:                     `document.querySelectorAll("#view table").length > 3`,
		"pages":                            `document.querySelector(".grid-rows [aria-rowindex]")`,
		"page?url=https://" + host + "/":   `document.querySelector("#view .route")`,
		"broken":                           `document.querySelector("#view td")`,
		"duplicates":                       `document.querySelector("#view .empty")`,
		"outside":                          `document.querySelector("#view td")`,
		"suggest":                          `document.querySelector(".candidate")`,
		"runs":                             `document.querySelector("#view td")`,
		"runs?from=1&to=2":                 `document.querySelectorAll("#view .block").length > 4`,
		"files":                            `document.querySelector("#view button")`,
		"ask?sql=SELECT+domain+FROM+hosts": `document.querySelector("#view td")`,
		"map":                              `document.querySelector("#counts").innerText`,
		"control":                          `document.querySelector("#view .empty")`,
		"nowhere":                          `document.querySelector("#view .empty")`,
	}
	b := d.inBrowser(t, "now")
	widths := map[string][]int64{"light": {1400}} // in both themes, contrasts are TestViews' of the application
	if !crawltest.Full() {
		maps.DeleteFunc(views, func(view, _ string) bool {
			name, _, _ := strings.Cut(view, "?")
			return !slices.Contains([]string{"now", "hosts", "host/" + host, "page", "ask", "map"}, name)
		})
	} else {
		widths = map[string][]int64{"light": {1400, 400}, "dark": {1400, 400}}
	}
	for _, theme := range []string{"light", "dark"} {
		b.Wait(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
		for _, width := range widths[theme] {
			b.Size(width, 900)
			for view, until := range views {
				desktest.Ask[any](b, `location.hash = "#/", 1`)
				b.Visit(view, until)
				violated(b, script, theme == "light" || view == "now", fmt.Sprintf("%s, %s, %d pixels", view, theme, width))
			}
			desktest.Ask[any](b, `document.getElementById("keys").click(), 1`)
			b.Wait(`document.querySelector("dialog[open]")`)
			violated(b, script, theme == "light", fmt.Sprintf("keys, %s, %d pixels", theme, width))
			desktest.Ask[any](b, `document.querySelector("dialog[open]").close(), 1`)
		}
		desktest.Ask[any](b, `document.getElementById("flip").click(), 1`)
	}
}

// violated reports the rules that the page in a tab breaks: all, or those of colours, in which alone the themes differ.
func violated(b *desktest.Tab, script string, all bool, where string) {
	b.Helper()
	rules := ""
	if !all {
		rules = `, runOnly: ["color-contrast", "link-in-text-block"]`
	}
	if !desktest.Ask[bool](b, "!!window.axe") {
		desktest.Ask[any](b, script+"; 1")
	}
	text := desktest.Ask[string](b, `Promise.all(document.getAnimations().map((a) => a.finished.catch(() => 0)))
		.then(() => axe.run(document, { resultTypes: ["violations"]`+rules+` }))
		.then((r) => JSON.stringify(r.violations.map((v) => ({ rule: v.id, help: v.help,
			nodes: v.nodes.map((n) => n.target.join(" ") + ": " + n.html.slice(0, 200)) }))))`)
	var broken []violation
	if err := json.Unmarshal([]byte(text), &broken); err != nil {
		b.Fatal(err)
	}
	for _, v := range broken {
		b.Errorf("%s: %s (%s):\n\t%s", where, v.Help, v.Rule, strings.Join(v.Nodes[:min(3, len(v.Nodes))], "\n\t"))
	}
}
