package survey

import (
	"cmp"
	"strings"

	"github.com/dustin/go-humanize"
)

// Covers returns all covers, in their order.
func Covers() []Cover {
	all := make([]Cover, CoverCount)
	for i := range all {
		all[i] = Cover(i)
	}
	return all
}

// String names a cover in a word or two, the same for all hosts that share it. The details for one
// host are in [HostReport.Coverage].
func (c Cover) String() string {
	names := [CoverCount]string{
		CoverListed: "listed", CoverGivenUp: "given up", CoverBudget: "budget used up", CoverSuspended: "asked for rest",
		CoverSlow: "long Crawl-delay", CoverWaiting: "not finished", CoverLost: "cut in an older run",
		CoverArchives: "not in the archives",
		CoverTrap:     "cap or trap",
		CoverBlocked:  "blocked", CoverDenied: "denied by robots.txt", CoverComplete: "complete",
		CoverByRule:     "complete but for rules",
		CoverToDepth:    "complete to max-depth",
		CoverNotVisited: "not visited",
	}
	return names[c]
}

// cover decides how a host is covered: by its first lack. The text names all lacks, with numbers of
// pages if there is more than one.
func cover(lacks []lack, t *hostTally) (Cover, string) {
	switch {
	case len(lacks) == 0 && t.visited == 0:
		return CoverNotVisited, "not visited"
	case len(lacks) == 0 || lacks[0].cover == CoverComplete:
		return CoverComplete, "complete"
	case len(lacks) == 1:
		return lacks[0].cover, cmp.Or(lacks[0].alone, lacks[0].why)
	}
	words := make([]string, len(lacks))
	for i, l := range lacks {
		if words[i] = l.why; l.pages > 0 {
			words[i] = humanize.Comma(int64(l.pages)) + " " + l.why
		}
	}
	return lacks[0].cover, strings.Join(words, ", ")
}
