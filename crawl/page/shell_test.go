package page

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sumi-ripple/ripple/schema"
)

// shellWeb returns the pages of testdata/shells.txtar, by name.
func shellWeb(t testing.TB) []txtar.File {
	t.Helper()
	web, err := txtar.ParseFile("testdata/shells.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return web.Files
}

// guises are changes that sites apply to every page they serve, and that must not matter.
func guises() map[string]func(string) string {
	inHead := func(text string) func(string) string {
		return func(page string) string { return strings.Replace(page, "</head>", text+"</head>", 1) }
	}
	inBody := func(text string) func(string) string {
		return func(page string) string { return strings.Replace(page, "</body>", text+"</body>", 1) }
	}
	return map[string]func(string) string{
		"as it is": func(page string) string { return page },
		"minified": func(page string) string { return strings.ReplaceAll(page, "\n", "") },
		"indented": func(page string) string { return strings.ReplaceAll(page, "><", ">\n      <") },
		"upper": func(page string) string {
			return strings.NewReplacer("<div", "<DIV", "</div",
				"</DIV").Replace(page)
		},
		"commented": inBody("<!-- served by node 4 in 3 ms; a comment is no text, however long it may be made -->"),
		"preloaded": inHead(strings.Repeat(`<link rel="preload" as="font" href="/f.woff2" crossorigin>`, 20)),
		"described": inHead(`<meta property="og:title" content="River watch"><script type="application/ld+json">` +
			`{"@context":"https://schema.org","@type":"WebSite","url":"https://example.com/"}</script>`),
		"measured": inHead(`<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>` +
			`<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}</script>`),
		"tagged": inBody(`<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=G-1" height="0" width="0">` +
			`</iframe></noscript>`),
		"pixelled": inBody(`<noscript><img height="1" width="1" src="https://pixel.example.net/p?x=1"></noscript>`),
		"styled":   inHead("<style>" + strings.Repeat(".page > p { margin: 0 auto }\n", 300) + "</style>"),
		"drawn":    inBody(`<svg hidden><symbol id="i"><title>menu</title><path d="M0 0h9"/></symbol></svg>`),
		"spaced":   inBody(strings.Repeat("\n\t  &nbsp;", 200)),
	}
}

// TestShellWeb measures how often a page is misclassified. A brief page of a framework, without a link outside of its
// navigation, looks like one whose content is missing, so it is rendered in vain: those are counted on their own.
func TestShellWeb(t *testing.T) {
	var shells, others, missed, wrong, incomplete int
	for _, f := range shellWeb(t) {
		for guise, wear := range guises() {
			p := extract(t, wear(string(f.Data)), Options{})
			kind, _, _ := strings.Cut(f.Name, "/")
			isShell := kind == "shell" || kind == "partial"
			switch {
			case kind == "partial" || kind == "brief":
				if incomplete++; p.Shell&schema.ShellHydrates == 0 {
					t.Errorf("%s, %s: taken for complete (%s)", f.Name, guise, p.Shell)
				}
			case isShell && p.Shell == 0:
				missed++
				t.Logf("%s, %s: missed", f.Name, guise)
			case !isShell && p.Shell != 0:
				wrong++
				t.Logf("%s, %s: taken for a shell (%s)", f.Name, guise, p.Shell)
			}
			switch {
			case isShell:
				shells++
			case kind != "brief":
				others++
			}
		}
	}
	t.Logf("%d of %d shells missed, %d of %d other pages taken for one, and all brief ones", missed, shells, wrong, others)
	if incomplete < 100 {
		t.Errorf("only %d pages whose content scripts fetch", incomplete)
	}
	if shells < 300 || missed*20 >= shells {
		t.Errorf("%d of %d shells missed", missed, shells)
	}
	if others < 300 || wrong*100 >= others {
		t.Errorf("%d of %d other pages taken for a shell", wrong, others)
	}
}

// TestShellsOfRealPages counts the pages of the machine's documentation, which are readable without scripts,
// that are mistaken for shells.
func TestShellsOfRealPages(t *testing.T) {
	folder := os.Getenv("RIPPLE_PAGES")
	if folder == "" {
		folder = "/usr/share/doc"
	}
	base, self := testBase(t, testRules(t), "https://docs.example/manual/page.html")
	e := NewExtractor(Options{})
	pages, wrong := 0, 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(path, ".html") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || len(bytes.TrimSpace(src)) == 0 {
			return nil
		}
		pages++
		if p := e.Extract(src, "text/html", base, self); p.Shell != 0 {
			wrong++
			t.Logf("%s: %s", path, p.Shell)
			if p.Shell&schema.ShellHydrates != 0 {
				t.Errorf("%s: no framework made it", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages == 0 {
		t.Skip("no HTML below " + folder + ": install a -doc package to look at real pages")
	}
	t.Logf("%d of %d pages taken for shells", wrong, pages)
	if wrong*100 >= pages {
		t.Errorf("%d of %d pages taken for shells", wrong, pages)
	}
}

func TestShellSigns(t *testing.T) {
	const bundle = `<script src="/app.js"></script>`
	const nuxt = `<script id="__NUXT_DATA__" type="application/json">[]</script>`
	size := "<!--" + strings.Repeat("x", 3000) + "-->"
	for _, tt := range []struct {
		name, body string
		want       schema.Shell
	}{
		{"mount", `<p>Hi</p><div id=app></div>` + bundle, schema.ShellMount | schema.ShellBundle},
		{"mount without a bundle", `<div id=app></div><script>x()</script>`, 0},
		{"mount with data only", `<div id=app></div><script type="application/json" src=x></script>`, 0},
		{"blank", bundle, schema.ShellBlank | schema.ShellBundle},
		{"blank, scripts from elsewhere", `<script src="//cdn.test/x.js"></script>`, 0},
		{"blank, script of the site", `<script src="https://static.example.com/x.js"></script>`,
			schema.ShellBlank | schema.ShellBundle},
		{"asks", `<p>Hi</p><noscript>JavaScript, please</noscript>` + bundle, schema.ShellAsks | schema.ShellBundle},
		{"all", `<noscript>JavaScript</noscript><div id=root>Loading</div>` + bundle,
			schema.ShellMount | schema.ShellBlank | schema.ShellBundle | schema.ShellAsks},
		{"filled mount that asks", `<div id=root>Hello</div><noscript>JavaScript</noscript>` + bundle, 0},
		{"mount in a filled one", `<div id=root>Hello<div id=app></div></div>` + bundle, 0},
		{"mount beside a filled one", `<div id=app-bar>Hello</div><div id=root></div>` + bundle,
			schema.ShellMount | schema.ShellBundle},
		{"nested elements of one name", `<div id=root><div></div><div>Hello</div></div>` + bundle, 0},
		{"unclosed mount", bundle + `<div id=root>`, schema.ShellMount | schema.ShellBlank | schema.ShellBundle},
		{"three links", `<a href=a>a</a><a href=b>b</a><a href=c>c</a><div id=root></div>` + bundle,
			schema.ShellMount | schema.ShellBundle},
		{"four links", `<a href=a>a</a><a href=b>b</a><a href=c>c</a><a href=d>d</a><div id=root></div>` + bundle, 0},
		{"links that lead nowhere", strings.Repeat(`<a href="#x">a</a><a href="javascript:y()">`, 9) +
			`<div id=root></div>` +
			bundle, schema.ShellMount | schema.ShellBundle},
		{"links in noscript", `<noscript>` + strings.Repeat(`<a href=/x>x</a>`, 9) + `</noscript><div id=root></div>` +
			bundle, schema.ShellMount | schema.ShellBlank | schema.ShellBundle},
		{"400 bytes of text", `<div id=root></div>` + strings.Repeat("é ", 200) + bundle,
			schema.ShellMount | schema.ShellBundle},
		{"401 bytes of text", `<div id=root></div>` + strings.Repeat("é ", 200) + "x" + bundle, 0},
		{"control", `<input name=q><div id=root></div>` + bundle, 0},
		{"hidden controls", `<input type=hidden name=q><input style="display: none"><div id=root></div>` + bundle,
			schema.ShellMount | schema.ShellBlank | schema.ShellBundle},
		{"refresh", `<meta http-equiv=refresh content="0;url=/x"><div id=root></div>` + bundle, 0},
		{"marker of Next in a text", `<p>Hi</p>` + strings.Repeat(`<a href=a>a</a>`, 4) + `<script>x("__next_f")</script>`, 0},
		{"text about Next, without a link", `<p>Hi</p><script>var doc = "use __next_f and __sveltekit_ here"</script>`, 0},
		{"empty list without a marker", `<main><p>Hi</p><ul></ul></main>` + strings.Repeat("text ", 99) + bundle, 0},
		{"links back alone", nuxt + `<p><a href="/">Home</a> <a href="/dir/?all">All</a> <a href=".."></a> <a href="/dir/page">` +
			`Page</a></p><p>Loading</p>`, schema.ShellHydrates},
		{"a link to a page beside it", nuxt + `<p><a href="/di">Home</a></p><p>Loading</p>`, 0},
		{"a link to a page below it", nuxt + `<p><a href="/dir/page/2">Next</a></p><p>Loading</p>`, 0},
		{"a link into a folder above it", nuxt + `<p><a href="../x">Home</a></p><p>Loading</p>`, 0},
		{"a table's head alone", nuxt + strings.Repeat("text ", 99) + `<table><thead><tr><th>Day</th></tr></thead>` +
			`<tbody></tbody></table>`, schema.ShellHydrates},
		{"a table with a head", nuxt + strings.Repeat("text ", 99) + `<table><thead><tr><th>Day</th></tr></thead>` +
			`<tbody><tr><td>1</td></tr></tbody></table>`, 0},
		{"unclosed noscript", bundle + `<noscript>JavaScript <a href=a>a</a> and all the rest`,
			schema.ShellBlank | schema.ShellBundle | schema.ShellAsks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := extract(t, size+tt.body, Options{}).Shell; got != tt.want {
				t.Errorf("signs %q, want %q", got, tt.want)
			}
		})
	}
	// The same text is much for a page that is not larger.
	if got := extract(t, `<div id=root></div>Hello`+bundle, Options{}).Shell; got == 0 {
		t.Error("a small shell is none")
	}
	if got := extract(t, `<div id=root></div>`+strings.Repeat("x", 30)+bundle, Options{}).Shell; got != 0 {
		t.Errorf("signs %q of a page that is mostly text", got)
	}
}

func TestMountWords(t *testing.T) {
	for name, want := range map[string]bool{
		"app": true, "root": true, "__next": true, "___gatsby": true, "q-app": true, "reactRoot": true,
		"app-root": true,
		"APP":      true, "myApp": true, "app2": false, "approach": false, "content": false, "fb-root": false,
		"wrapper":    false,
		"app-banner": false, "app-container": true, "river-watch-app": true, "swagger-ui": true, "main-content": false,
		"": false, "-": false, "é": false, "é-app": true, "rooted": false,
	} {
		if got := isMountName(name); got != want {
			t.Errorf("isMountName(%q) = %t", name, got)
		}
	}
}
