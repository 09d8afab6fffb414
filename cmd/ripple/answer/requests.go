package answer

import "time"

// A Request is one that was sent to a host, with the rest that it had before.
type Request struct {
	URL        string    `json:"url"`
	Kind       string    `json:"kind"` // robots, sitemap, head or get; page: a visit, of a crawl that is over
	At         time.Time `json:"at"`
	GapMS      int64     `json:"gap_ms"`      // that was kept; 0: there was none before, in its run
	PromisedMS int64     `json:"promised_ms"` // the least that was promised then
	Status     int       `json:"status_code"`
	ResponseMS int64     `json:"response_ms"`
	Error      string    `json:"error_message"`
}

// A RequestList are the last requests to a host, the newest first.
type RequestList struct {
	Domain   string    `json:"domain"`
	Requests []Request `json:"requests"`
}
