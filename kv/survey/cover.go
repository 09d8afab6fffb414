package survey

// String names a cover in a word or two, the same for all hosts that share it; what
// was in the way of one host, and how much, is [HostReport.Coverage].
func (c Cover) String() string {
	names := [...]string{
		CoverListed: "listed", CoverGivenUp: "given up", CoverBudget: "budget used up", CoverSuspended: "asked for rest",
		CoverSlow: "long Crawl-delay", CoverWaiting: "not finished", CoverLost: "cut in an older run",
		CoverTrap:    "cap or trap",
		CoverBlocked: "blocked", CoverDenied: "denied by robots.txt", CoverComplete: "complete",
		CoverNotVisited: "not visited",
	}
	return names[c]
}
