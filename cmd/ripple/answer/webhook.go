package answer

import (
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/webhook"
)

// A WebhookTest is a webhook's answer to a test event.
type WebhookTest struct {
	ID     string `json:"id"`
	Host   string `json:"host"`
	Status int    `json:"status_code"`
	Millis int64  `json:"response_ms"`
	Body   string `json:"body"`
	Error  string `json:"error"`
}

func NewWebhookTest(a *webhook.Answer) WebhookTest {
	return WebhookTest{a.ID, term.Clean(a.Host, 253), a.Status, a.Took.Milliseconds(), term.Clean(string(a.Body), 512),
		a.Reason.String()}
}
