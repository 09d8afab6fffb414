package answer

import (
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
)

// A History is the progress of a run over time.
type History struct {
	Run    int            `json:"run_id"` // 0: there is no run
	Every  float64        `json:"every_seconds"`
	Points []HistoryPoint `json:"points"` // oldest first; at most 512
}

// A HistoryPoint is the progress of a run at a time.
type HistoryPoint struct {
	At       time.Time `json:"at"`
	Pages    int       `json:"pages_requested"`
	Requests int       `json:"requests"`
	Errors   int       `json:"errors"`
	ToVisit  int       `json:"pages_to_visit"`
}

// NewHistory returns the history of a run; 0: of the newest.
func NewHistory(tx *kv.Tx, run int) (History, error) {
	h := History{Points: []HistoryPoint{}}
	runs, err := tx.Runs.All()
	if err != nil || len(runs) == 0 && run == 0 {
		return h, err
	}
	if run == 0 {
		run = len(runs)
	}
	if run > len(runs) {
		return h, term.Usage("there is no run #%d", run)
	}
	kept, err := tx.Runs.History(runs[run-1].ID)
	h.Run, h.Every = run, kept.Every.Seconds()
	for _, p := range kept.Points {
		h.Points = append(h.Points, HistoryPoint{p.At, p.Pages, p.Requests, p.Errors, p.Waiting})
	}
	return h, err
}
