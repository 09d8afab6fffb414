package desk

import (
	"net/http"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/app"
)

// site is the application.
func site() http.Handler { return app.NewHandler() }
