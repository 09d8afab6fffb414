package desk

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
)

// help serves the topics of "ripple help" as text below /help/, with a list of them there, and the dashboard.
func help() http.Handler {
	mux := http.NewServeMux()
	var list strings.Builder
	for _, topic := range docs.Topics() {
		fmt.Fprintf(&list, "<li><a href=\"/help/%s\">%s</a></li>\n", topic.Name, html.EscapeString(topic.Title))
		mux.HandleFunc("GET /help/"+topic.Name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, topic.Text)
		})
	}
	mux.HandleFunc("GET /help/grafana.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, docs.Dashboard)
	})
	mux.HandleFunc("GET /help/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Documentation</title>"+
			"<link rel=\"stylesheet\" href=\"/app/desk.css\"></head>\n<body><main><h1>Documentation</h1>\n<ul>\n%s</ul>\n"+
			"</main></body></html>\n", list.String())
	})
	return mux
}
