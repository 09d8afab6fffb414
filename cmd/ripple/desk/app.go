package desk

import (
	"embed"
	"net/http"
)

//go:embed app
var app embed.FS

// site is the application.
func site() http.Handler {
	files := http.FileServerFS(app)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		case r.URL.Path == "/":
			http.ServeFileFS(w, r, app, "app/index.html")
		case r.URL.Path == "/app" || r.URL.Path[len(r.URL.Path)-1] == '/': // no lists of files
			http.NotFound(w, r)
		default:
			files.ServeHTTP(w, r)
		}
	})
}
