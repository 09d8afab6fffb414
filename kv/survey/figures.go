package survey

// HostFigures are the figures of a host that every list of hosts has, one value from the count to the outputs. The key
// of a figure in JSON is also its column in table hosts of the SQLite file; sql:"-" keeps it out of that table.
type HostFigures struct {
	Title        string `json:"title"`     // of its front page
	MinDepth     *int   `json:"min_depth"` // of its pages; nil: none has one
	Known        int    `json:"pages_known"`
	Visited      int    `json:"pages_visited"`         // of those, in the run
	Waiting      int    `json:"pages_waiting" sql:"-"` // to visit and not visited: queued, suspended, or over budget
	Visits       int    `json:"crawl_count"`           // that asked, all runs
	Requests     int    `json:"requests"`              // of every kind, all runs
	DelayMS      int64  `json:"delay_ms"`              // promised between two requests, time-outs included
	Coverage     string `json:"coverage"`              // in words, with all that was in the way
	KnownMissing int    `json:"known_missing"`         // pages that the map should have, not recorded ones too
}

// HostDetails are the figures that only an answer about one host has, and the SQLite file.
type HostDetails struct {
	LinksOmitted int `json:"links_omitted"`      // links of its pages that are not recorded
	HTML         int `json:"html_pages" sql:"-"` // pages of HTML that were processed
	Shells       int `json:"need_scripts"`       // pages of HTML, not rendered, that are likely empty without scripts

	TimedOut  int `json:"render_timed_out" sql:"-"`  // pages whose scripts used up the time of a page
	TriedOnce int `json:"render_tried_once" sql:"-"` // pages not tried again, since others of the host had timed out

	// what its robots.txt says about the use of pages, as written, one statement a line
	Preferences  string `json:"preferences"`
	MissingPages string `json:"missing_pages"`         // see [missing.Manner]; empty: not known
	SoftPages    int    `json:"soft404_pages" sql:"-"` // visited in the run
	WalledPages  int    `json:"walled_pages" sql:"-"`  // visited in the run and met a wall
	Parked       string `json:"parked"`                // the rule by which the domain is for sale; empty: it is not
	// the rule of these walls or of that in front of robots.txt, or [WallSuspected]; empty: none
	Wall string `json:"wall"`
}
