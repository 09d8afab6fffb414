package answer

// A BrokenLink is a link that leads nowhere, with the columns of [BrokenColumns].
type BrokenLink struct {
	Origin *string `json:"quality_origin"`
	From   string  `json:"from_url"`
	Anchor string  `json:"anchor"`
	To     string  `json:"to_url"`
	State  string  `json:"state"`
	Status *int    `json:"status_code"`
	Error  string  `json:"error_message"`
	Kind   string  `json:"kind"`
	Rel    string  `json:"rel"`
	Place  string  `json:"place"`
	Answer *string `json:"answer"` // what the server answered instead of a page; null: nothing else
}

// A RunList holds the runs of a state.
type RunList struct {
	Runs []StatsRun `json:"runs"`
}
