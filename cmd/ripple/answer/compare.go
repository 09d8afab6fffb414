package answer

import (
	"errors"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// CompareRuns compares two runs. If namedTo is 0, it is the newest; if namedFrom is 0, it is the
// one before.
func CompareRuns(s *survey.Survey, namedFrom, namedTo schema.RunID) (*survey.Diff, error) {
	from, to, err := runsToCompare(s.Runs(), namedFrom, namedTo)
	if err != nil {
		return nil, err
	}
	d, err := survey.Compare(s, from, to)
	switch {
	case !errors.Is(err, survey.ErrRuns):
		return d, err
	case namedFrom == 0 && namedTo == 0: // no pruned run was named
		return nil, term.Hint(err, "\"ripple crawl\" begins the next one once run #%d is completed", to)
	}
	return nil, term.Usage("%v", err)
}

// runsToCompare chooses the two runs.
func runsToCompare(all []schema.Run, namedFrom, namedTo schema.RunID) (from, to schema.RunID, err error) {
	if len(all) < 2 {
		return 0, 0, term.Hint(errors.New("there is only one run, and nothing to compare it with"),
			"\"ripple crawl\" begins the next one once it is completed")
	}
	to = all[len(all)-1].ID
	if namedTo != 0 {
		to = namedTo
	}
	for _, id := range []schema.RunID{to, namedFrom} {
		if id != 0 && !statefile.HasRun(all, id) {
			return 0, 0, term.Usage("there is no run #%d; %s", id, statefile.RunsText(all))
		}
	}
	if namedFrom != 0 {
		return namedFrom, to, nil
	}
	for _, run := range all {
		if run.ID < to {
			from = run.ID
		}
	}
	if from == 0 {
		return 0, 0, term.Usage("there is no run before run #%d", to)
	}
	return from, to, nil
}
