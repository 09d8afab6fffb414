package desk

import (
	"context"
	"net/http"
)

// metrics answers a scrape. Prometheus sends the token if its configuration names it
// (authorization, credentials_file).
func metrics(text func(context.Context) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown, err := text(r.Context())
		if err != nil {
			Refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(shown) // fails only if the client has left
	})
}
