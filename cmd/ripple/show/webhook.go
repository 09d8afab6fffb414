package show

import (
	"fmt"
	"io"
	"net/http"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/webhook"
)

// WebhookTest prints what a webhook answered to a test event.
func WebhookTest(w io.Writer, a *webhook.Answer) {
	verdict := "accepted"
	switch {
	case a.Delivered():
	case a.Status == http.StatusGone:
		verdict = "a crawl would send nothing more there"
	case a.Status/100 == 3:
		verdict = "not accepted: redirects are not followed"
	default:
		verdict = "not accepted"
	}
	said := a.Reason.String()
	if a.Status != 0 {
		said = fmt.Sprintf("%d %s in %d ms", a.Status, http.StatusText(a.Status), a.Took.Milliseconds())
	}
	fmt.Fprintf(w, "%s: %s; %s\n  webhook-id  %s\n", term.Clean(a.Host, 253), said, verdict, a.ID)
	if len(a.Body) > 0 {
		fmt.Fprintf(w, "  answer      %s\n", term.Clean(string(a.Body), 512))
	}
}
