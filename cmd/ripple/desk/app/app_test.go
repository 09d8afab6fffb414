package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	h := NewHandler()
	tests := []struct {
		method, path string
		code         int
		kind, has    string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", `<main id="stage">`},
		{"HEAD", "/", 200, "text/html; charset=utf-8", ""},
		{"GET", "/app/main.js", 200, "text/javascript; charset=utf-8", "import"},
		{"GET", "/app/viewer.js", 200, "text/javascript; charset=utf-8", "export { show"},
		{"GET", "/app/ground.css", 200, "text/css; charset=utf-8", "--class-quality: #"},
		{"GET", "/app/schema.sql", 200, "text/plain; charset=utf-8", "CREATE TABLE pages"},
		{"GET", "/app/icon.svg", 200, "image/svg+xml", "<svg"},
		{"GET", "/app/", 404, "", ""},
		{"GET", "/app/index.html", 404, "", ""},
		{"GET", "/app/../app.go", 404, "", ""},
		{"GET", "/app/files/main.js", 404, "", ""},
		{"GET", "/main.js", 404, "", ""},
		{"POST", "/", 405, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(tt.method, "http://desk.test"+tt.path, http.NoBody))
			if w.Code != tt.code || tt.kind != "" && w.Header().Get("Content-Type") != tt.kind ||
				!strings.Contains(w.Body.String(), tt.has) {
				t.Errorf("%d %q %.80q", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		})
	}
}

// Text must never become markup or code, and no request may go to another server.
func TestNoDoors(t *testing.T) {
	texts, err := all()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		for _, door := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(",
			"XMLHttpRequest", "WebSocket", "createContextualFragment", "DOMParser", "srcdoc", "http://", " style=", "onclick=\""} {
			if strings.Contains(strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", ""), door) {
				t.Errorf("%s says %q", name, door)
			}
		}
	}
}
