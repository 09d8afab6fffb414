// Package apps provides real applications for tests of rendering: one small site, written for nine frameworks and
// built from their npm packages. All show the same data, which their scripts fetch. Most are files; Next is also there
// with a server of its own.
//
// Direct dependencies have exact versions; indirect ones are resolved as of one fixed day.
package apps

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// The folder of an application has the name of its framework. Files beside the folders belong to several.
//
//go:embed all:testdata
var sources embed.FS

// A Kind says what the server sends of a page.
type Kind int

const (
	Shell    Kind = iota // nothing but scripts
	Partial              // written by the server, without the content, which scripts fetch
	Complete             // all of it
	Brief                // all of it, but so little that it looks like a partial page
)

// NeedsScripts reports whether content or links of such a page are missing without its scripts.
func (k Kind) NeedsScripts() bool { return k == Shell || k == Partial }

// An App is the site in one framework.
type App struct {
	Name  string
	Pages map[string]Kind // by path without a slash at its end

	slash    bool   // links have that slash
	base     string // application whose sources it has, unless it has files of the same name; empty: none
	output   string // folder that its build writes
	server   string // script in that folder, which node runs; empty: the files are all there is
	fallback bool   // any path leads to index.html, whose router reads it
	notes    bool   // it has the pages of notes.json
}

// All returns the applications.
func All() []App {
	spa := map[string]Kind{"/": Shell, "/stations": Shell, "/guide": Shell, "/about.html": Complete}
	for id := range len(stations) {
		spa[fmt.Sprintf("/stations/%d", id+1)] = Shell
	}
	hashes := map[string]Kind{"/": Shell, "/stations": Shell, "/guide": Shell, "/about.html": Complete}
	docsify := map[string]Kind{"/": Shell, "/stations": Shell, "/guide": Shell, "/station-1": Shell, "/station-2": Shell,
		"/about.html": Complete}
	return []App{
		{Name: "react", Pages: spa, output: "dist", fallback: true},
		{Name: "vue", Pages: spa, output: "dist", fallback: true},
		{Name: "svelte", Pages: hashes, slash: true, output: "dist"},
		{Name: "angular", Pages: spa, output: "dist", fallback: true},
		{Name: "next", Pages: hydrated("/map", "/alerts"), slash: true, output: "out", notes: true},
		{Name: "next-server", Pages: streamed(hydrated("/map", "/alerts")), slash: true, base: "next",
			output: ".next/standalone", server: "server.js", notes: true},
		{Name: "nuxt", Pages: hydrated(), output: ".output/public", notes: true},
		{Name: "sveltekit", Pages: hydrated("/alerts"), slash: true, output: "dist", notes: true},
		{Name: "astro", Pages: hydrated(), slash: true, output: "dist", notes: true},
		{Name: "docsify", Pages: docsify, output: "dist", fallback: true},
	}
}

// hydrated returns the pages of an application that a server writes, with further partial ones.
func hydrated(partial ...string) map[string]Kind {
	pages := map[string]Kind{"/": Complete, "/guide": Complete, "/about": Complete, "/notes/11": Brief}
	for id := range 10 {
		pages[fmt.Sprintf("/notes/%d", id+1)] = Complete
	}
	for id := range len(stations) {
		partial = append(partial, fmt.Sprintf("/stations/%d", id+1))
	}
	for _, p := range append(partial, "/stations", "/archive", "/keepers") {
		pages[p] = Partial
	}
	return pages
}

// streamed adds a page whose content follows its first part, in the same answer.
func streamed(pages map[string]Kind) map[string]Kind {
	pages["/streamed"] = Complete
	return pages
}

// Link returns the path of a page as links have it.
func (a App) Link(page string) string {
	if a.slash && path.Ext(page) == "" {
		return strings.TrimSuffix(page, "/") + "/"
	}
	return page
}

// Serve serves the application in a folder, and the data, at a host. A server of its own ends with the test.
func (a App) Serve(t testing.TB, h *webtest.Host, folder string) {
	t.Helper()
	if a.server != "" {
		h.Handle("/*", a.start(t, folder).ServeHTTP)
	} else {
		h.Handle("/*", func(w http.ResponseWriter, r *http.Request) { a.serveFile(w, r, os.DirFS(folder)) })
	}
	if a.notes {
		h.Handle("/thanks", func(w http.ResponseWriter, _ *http.Request) { send(w, "t.txt", []byte("Thanks.")) })
	} else {
		h.Handle("/about.html", func(w http.ResponseWriter, _ *http.Request) { send(w, "about.html", read("about.html")) })
	}
	serveData(h)
}

func (a App) serveFile(w http.ResponseWriter, r *http.Request, files fs.FS) {
	name := a.find(files, r.URL.Path)
	if name == "" {
		http.NotFound(w, r)
		return
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, name, body)
}

// find returns the name of the file for a path; empty: there is none.
func (a App) find(files fs.FS, at string) string {
	at = strings.Trim(path.Clean(at), "/")
	candidates := []string{at, path.Join(at, "index.html"), at + ".html"}
	if a.fallback && path.Ext(at) == "" {
		candidates = append(candidates, "index.html")
	}
	i := slices.IndexFunc(candidates, func(name string) bool {
		info, err := fs.Stat(files, name)
		return err == nil && info.Mode().IsRegular()
	})
	if i < 0 {
		return ""
	}
	return candidates[i]
}

func read(name string) []byte {
	body, err := sources.ReadFile("testdata/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return body
}
