// Package app is the application of the desk: pages, styles and modules that show a terrain in a
// browser, through the API of package desk. It sends requests to no other server, runs only what is
// in the folder files or in the viewer of the exported map, and treats everything from a server as
// text.
package app

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atlas"
	"github.com/sumi-ripple/ripple/schema"
)

//go:embed files
var files embed.FS

// NewHandler serves the page at / and its parts below /app/. It sets no policy: its server does,
// and may restrict scripts, styles, images and connections to the same origin. It panics if the
// files are not those that the program was built with.
func NewHandler() http.Handler {
	texts, err := all()
	if err != nil {
		panic(fmt.Errorf("application of the desk: %w", err))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/app/")
		if r.URL.Path == "/" {
			name = "index.html"
		}
		text, ok := texts[name]
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		case !ok || (name == "index.html") != (r.URL.Path == "/"):
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", contentType(name))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		}
	})
}

// contentType does not depend on the machine's own tables.
func contentType(name string) string {
	return map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
		".js": "text/javascript; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml",
		".sql": "text/plain; charset=utf-8"}[path.Ext(name)]
}

// all returns the files by their names below /app/, including those shared with the exports.
func all() (map[string][]byte, error) {
	viewer, err := atlas.NewViewer()
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{
		"viewer.js": []byte(viewer.Module), "viewer.css": []byte(viewer.Style), "schema.sql": []byte(schema.SQL()),
		"ground.css": []byte(viewer.Ground + classColours()),
	}
	if texts["questions.json"], err = json.Marshal(docs.Questions()); err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "files/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts[path.Base(name)] = text
	}
	texts["index.html"], err = page(texts["index.html"], viewer)
	return texts, err
}

// page puts the elements of the map into the page.
func page(text []byte, viewer atlas.Viewer) ([]byte, error) {
	t, err := template.New("index.html").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, viewer)
	return b.Bytes(), err
}

// classColours returns the colours of classes in every picture of a graph.
func classColours() string {
	var light, dark strings.Builder
	for _, shade := range export.Palette() {
		fmt.Fprintf(&light, "--class-%s: %s; ", shade.Class, shade.Light)
		fmt.Fprintf(&dark, "--class-%s: %s; ", shade.Class, shade.Dark)
	}
	return ":root { " + light.String() + "}\n:root[data-theme=\"dark\"] { " + dark.String() + "}\n"
}
