package answer

import (
	"strconv"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/schema"
)

// ConditionOf returns what a run is doing. The terminal, "ripple stats", the API and every view of the desk take
// their words from it, and show a rate and a remaining time only if the status has them. ended is the run of a
// file that no crawl is using; nil: s is the status of a running crawl.
func ConditionOf(s *census.Status, ended *StatsRun) census.Condition {
	var c census.Condition
	if ended == nil {
		c = conditionOfCrawl(s)
		c.Cause = s.Wait.Cause()
	} else {
		c = conditionOfFile(s, ended)
	}
	if c.Commands == nil {
		c.Commands = []string{}
	}
	return c
}

// conditionOfCrawl returns the condition of a running crawl.
func conditionOfCrawl(s *census.Status) census.Condition {
	switch {
	case s.Status == "writing":
		return census.Condition{Name: "writing", Label: "writing outputs",
			Headline: "The crawl is over; its outputs are being written."}
	case s.Status == "stopping":
		return census.Condition{Name: "stopping", Label: "stopping", Headline: "The crawl is stopping" + openText(s) + "."}
	case s.Status == "paused":
		c := census.Condition{Name: "paused", Label: "paused", Headline: "The crawl is paused" + openText(s) + ".",
			Commands: []string{"unpause", "reload", "stop"}}
		if !s.Wait.Since.IsZero() {
			c.Headline += " " + sentence(awayText(&s.Wait))
		}
		return c
	}
	c := census.Condition{Name: "running", Label: "running", Headline: sentence(s.Waits),
		Commands: []string{"pause", "reload", "stop"}, Fetches: true}
	switch s.Wait.Reason {
	case census.ForNetwork:
		c.Name, c.Label, c.Fetches = "network", "waiting for the network", false
	case census.ForDisk:
		c.Name, c.Label, c.Fetches = "disk", "waiting for the disk", false
	case census.ForMeans:
		c.Name, c.Label = "memory", "short of memory or time"
	}
	switch {
	case c.Headline != "":
	case s.Fetching > 0:
		c.Headline = term.Count(s.Fetching, "request is", "requests are") + " open; " +
			term.Count(s.Hosts.Waiting, "host is", "hosts are") + " waiting between two requests."
	case s.PagesToVisit > 0:
		c.Headline = "The next request is about to be made."
	default:
		c.Headline = "Nothing is left to request."
	}
	return c
}

// conditionOfFile returns the condition of a run that this machine does not crawl.
func conditionOfFile(s *census.Status, run *StatsRun) census.Condition {
	name := "Run #" + strconv.Itoa(run.ID)
	switch {
	case run.ID == 0:
		return census.Condition{Name: "none", Label: "no run yet",
			Headline: "No run has begun yet. \"ripple crawl\" begins one."}
	case run.Status == schema.RunRunning.String(): // shards in a folder
		return census.Condition{Name: "running", Label: "running",
			Headline: name + " is running on shards; this is a copy of them."}
	case run.Status == schema.RunCompleted.String():
		return census.Condition{Name: "completed", Label: "completed", Headline: name + " is completed: " +
			term.Clean(run.Reason, 200) + "."}
	}
	c := census.Condition{Name: "interrupted", Label: "interrupted", Headline: name + " was interrupted"}
	switch why := term.Clean(run.Reason, 200); {
	case strings.HasPrefix(why, stopCommand):
		c.Name, c.Label, c.Headline = "stopped", "stopped", name+" was stopped with \""+why+"\""
	case why == (schema.End{Kind: schema.EndReclassified}).String():
		c.Label, c.Headline = "open again", name+" is open again: pages were reclassified"
	case why != "":
		c.Headline += ": " + why
	}
	c.Headline += "."
	if s.PagesToVisit > 0 {
		c.Headline += " " + term.Count(s.PagesToVisit, "page is", "pages are") + " waiting;"
	}
	c.Headline += " \"ripple crawl\" resumes it."
	return c
}

// stopCommand is the reason of a run that was stopped by that command, or at the desk.
const stopCommand = "ripple stop"

// ConditionOfTerrain returns what the run of a terrain is doing. away is why the hub cannot be reached; empty: it
// can. t is nil if nothing was seen yet.
func ConditionOfTerrain(t *TerrainStats, away string, seen time.Time) census.Condition {
	if away != "" {
		c := census.Condition{Name: "hub", Cause: census.CauseHub, Label: "waiting for the hub", Headline: sentence(away),
			Commands: []string{}}
		if t != nil {
			c.Headline += " This was the state of the terrain at " + seen.Local().Format(time.TimeOnly) + "."
		}
		return c
	}
	if t == nil {
		return census.Condition{Name: "none", Label: "no run yet", Headline: "Nothing is known about the terrain yet.",
			Commands: []string{}}
	}
	name := "Run #" + strconv.FormatUint(t.Run, 10)
	switch {
	case t.Over:
		return census.Condition{Name: "completed", Label: "completed", Headline: name + " has ended on all shards.",
			Commands: []string{}}
	case len(t.Without) > 0:
		return census.Condition{Name: "interrupted", Label: "interrupted", Headline: name + " was interrupted without " +
			schema.ShardsOf(t.Without...).Named() + ". \"ripple crawl\" on each machine resumes it.",
			Commands: []string{}}
	case t.Paused:
		return census.Condition{Name: "paused", Cause: census.CausePeople, Label: "paused", Headline: name + " is paused.",
			Commands: []string{"unpause", "reload", "stop"}}
	}
	c := census.Condition{Name: "running", Label: "running", Headline: name + " is running.",
		Commands: []string{"pause", "reload", "stop"}, Fetches: true}
	if t.Silent > 0 {
		c.Name, c.Cause, c.Label = "silent", census.CauseShard, term.Commas(t.Silent)+" silent"
		c.Headline = name + " is open until " + term.Count(t.Silent, "silent shard answers", "silent shards answer") + "."
	}
	t.addCauses(&c)
	return c
}

// addCauses puts what shards wait for on their own machines before the rest of a headline. If all that answer wait for
// the same, so does the terrain.
func (t *TerrainStats) addCauses(c *census.Condition) {
	shards, open := map[census.Cause][]int{}, 0
	for _, one := range t.Shards {
		if one.Status == nil || one.State == ShardOver {
			continue
		}
		open++
		if cause := one.Status.Condition.Cause; cause != census.NoCause {
			shards[cause] = append(shards[cause], one.Shard)
		}
	}
	headline := ""
	for _, cause := range census.Causes() {
		all := shards[cause]
		if all == nil {
			continue
		}
		of := &t.Shards[all[0]].Status.Condition
		if headline == "" && len(all) == open {
			c.Name, c.Cause, c.Label, c.Fetches = of.Name, cause, of.Label, of.Fetches
		}
		headline += sentence(schema.ShardsOf(all...).Named()+": "+term.Clean(of.Label, 60)) + " "
	}
	c.Headline = headline + c.Headline
}

// openText says that open requests are still to finish; empty: there are none.
func openText(s *census.Status) string {
	if s.Fetching == 0 {
		return ""
	}
	return "; " + term.Count(s.Fetching, "open request finishes", "open requests finish")
}

// sentence makes a text a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
