package desk

import (
	"net/http"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/app"
)

// site returns the handler of the application.
func site() http.Handler { return app.NewHandler() }
