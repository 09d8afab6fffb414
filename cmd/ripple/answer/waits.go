package answer

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
)

// Tell adds to the status of a running crawl why nothing is being fetched, and its condition.
func Tell(s *census.Status) {
	switch s.Status {
	case "writing":
		s.Waits = "the outputs are being written"
	default:
		s.Waits = waitText(s)
	}
	s.Condition = ConditionOf(s, nil)
}

// waitText says why nothing is being fetched, or less than could be.
func waitText(s *census.Status) string {
	switch s.Wait.Reason {
	case census.Stopping:
		return "stopping"
	case census.Paused:
		text := "paused; \"ripple resume\" resumes it"
		if !s.Wait.Since.IsZero() {
			text += "; " + awayText(&s.Wait)
		}
		return text
	case census.ForDisk:
		return diskText(&s.Wait)
	case census.ForDecision:
		return "deciding what to request next"
	case census.ForNothing:
		return "nothing is left to request"
	case census.ForNetwork:
		return awayText(&s.Wait) + "; the network of this machine seems to be down, and the crawl resumes when a host answers"
	case census.ForMeans:
		return "this machine lacks resources or processor time: at most " +
			term.Count(s.Wait.Few, "request is", "requests are") + " open for a while"
	case census.ForHosts:
		text := hostsText(&s.Hosts) + ", next in " + RestText(s.Wait.Rest) + ": " + term.ShownHost(s.Wait.Host, 80)
		if s.Wait.Why != "" {
			text += ", " + term.Clean(s.Wait.Why, 200)
		}
		return text
	}
	return ""
}

// diskText says what is wrong with the disk.
func diskText(w *census.Wait) string {
	if w.NoRoom == nil {
		return "waiting for the disk"
	}
	return fmt.Sprintf("the disk has been full since %s: %s needs %d MB free and has %d; "+
		"the crawl goes on when there is room",
		w.Since.Local().Format(time.TimeOnly), term.Shown(w.NoRoom.Folder), w.NoRoom.Needs()>>20, w.NoRoom.Free>>20)
}

// awayText says since when no host answers, and what failed.
func awayText(w *census.Wait) string {
	text := "no host has answered since " + w.Since.Local().Format(time.TimeOnly)
	if w.Why != "" {
		text += " (" + term.Clean(w.Why, 200) + ")"
	}
	return text
}

func hostsText(h *census.Hosts) string {
	if h.Suspended > 0 && h.Suspended == h.Waiting {
		return term.Count(h.Waiting, "host has", "hosts have") + " asked Ripple to wait"
	}
	return term.Count(h.Waiting, "host waits", "hosts wait")
}

// RestText formats the time until a request.
func RestText(rest time.Duration) string {
	if rest < time.Second {
		return "a moment"
	}
	return term.Span(rest)
}
