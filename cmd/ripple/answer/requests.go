package answer

import "time"

// A Request is a request that was sent to a host, with the pause before it.
type Request struct {
	URL        string    `json:"url"`
	Kind       string    `json:"kind"` // robots, sitemap, head or get; page: a visit of a crawl that is over
	At         time.Time `json:"at"`
	GapMS      int64     `json:"gap_ms"`      // the pause that was kept; 0: no earlier request in its run
	PromisedMS int64     `json:"promised_ms"` // the minimum pause promised at that time
	Status     int       `json:"status_code"`
	ResponseMS int64     `json:"response_ms"`
	Error      string    `json:"error_message"`
}

// A RequestList holds the last requests to a host, newest first.
type RequestList struct {
	Domain   string    `json:"domain"`
	Requests []Request `json:"requests"`
}
