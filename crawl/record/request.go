package record

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A Request is a request that a crawl has sent, with the gap before it. Both gaps count from the
// first byte of the previous answer; they are 0 for the first request.
type Request struct {
	Host     string
	URL      string
	Kind     string        // see [ring.Step.RequestKind]
	At       time.Time     // when it was sent
	Gap      time.Duration // the gap before it
	Promised time.Duration // the shortest gap that was promised to the host
	Status   int           // 0: no answer
	Time     time.Duration // to the first byte
	Error    string        // why there is no answer
}

// newRequest describes a request. It must be called before the clocks of the host change.
func newRequest(cfg *config.Config, h *schema.Host, o *ring.Outcome) Request {
	r := Request{
		Host: h.Name, URL: o.Step.URL, Kind: o.Step.RequestKind(), At: o.Step.Sent, Status: o.Status,
		Time: o.FirstByte.Sub(o.Step.Sent),
	}
	if !h.LastByte.IsZero() {
		r.Gap, r.Promised = o.Step.Sent.Sub(h.LastByte), clock.Ready(cfg, h).Sub(h.LastByte)
	}
	if !o.Answered() {
		r.Error = o.Reason().String()
	}
	return r
}
