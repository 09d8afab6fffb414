package kv

import (
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

func (w *writer) micros(d time.Duration) { w.int(int64(d / time.Microsecond)) }
func (r *reader) micros() time.Duration  { return time.Duration(r.int()) * time.Microsecond }
func (w *writer) number(n int)           { w.uint(uint64(n)) }
func (r *reader) number() int            { return int(r.uint()) }

func encodeHost(w *writer, h *schema.Host) {
	w.string(h.Name)
	w.string(h.Address)
	w.bool(h.WWW)
	w.millis(h.LastByte)
	w.millis(h.LastEnd)
	w.micros(h.Smoothed)
	w.micros(h.CrawlDelay)
	w.byte(h.Timeouts)
	w.byte(h.Failures)
	w.millis(h.SuspendedTo)
	w.micros(h.SuspendedFor)
	w.byte(h.Throttles)
	w.uint(uint64(h.Suspension))
	w.millis(h.RobotsAt)
	w.number(h.RobotsStatus)
	w.byte(h.RobotsTries)
	w.millis(h.RobotsDue)
	w.reason(&h.RobotsReason)
	w.string(h.RobotsFrom)
	w.millis(h.RobotsSince)
	w.uint(uint64(h.SitemapsRun))
	w.number(h.SitemapFiles)
	w.number(h.SitemapOthers)
	encodeHostRun(w, h)
	w.number(h.Requests)
	w.number(h.Visits)
	w.number(h.Known)
	w.number(h.Overflow)
	encodeQueues(w, h)
	encodeRetries(w, h.Retries)
	w.bool(h.HTTPS)
	w.number(h.SitemapsLeft)
	w.uint(uint64(h.SitemapsFor))
	w.number(h.Files)
	w.number(h.OverflowBefore)
	w.number(h.LinkText)
	w.byte(byte(h.Heads))
	w.number(h.Others)
	w.byte(byte(h.Place))
	w.number(len(h.Targets))
	for _, hash := range h.Targets {
		w.fixed(hash)
	}
	w.byte(h.Walls)
	w.bool(h.RunShown)
	w.byte(h.OthersWalls)
	w.bool(h.RunOthersEnded)
	w.bool(h.RobotsHTML)
	w.string(h.RobotsWall)
	w.byte(h.Payments)
	w.string(h.Preferences)
	encodeMazes(w, h.Mazes)
	w.bool(h.ShownWWW)
	encodeMissing(w, &h.Missing)
}

func encodeMissing(w *writer, p *schema.MissingProbe) {
	w.uint(uint64(p.Run))
	if p.Run == 0 {
		return
	}
	w.millis(p.At)
	w.number(p.Status)
	w.bool(p.Walled)
	w.string(p.Target)
	w.string(p.Title)
	w.fixed(uint64(p.Shown))
	w.fixed(uint64(p.Sim))
	w.bool(p.Shell)
}

func decodeMissing(r *reader) (p schema.MissingProbe) {
	if p.Run = schema.RunID(r.id()); p.Run == 0 {
		return p
	}
	p.At, p.Status, p.Walled = r.millis(), r.number(), r.bool()
	p.Target, p.Title = r.text(), r.text()
	p.Shown, p.Sim, p.Shell = schema.Shown(r.fixed()), schema.SimHash(r.fixed()), r.bool()
	return p
}

func encodeHostRun(w *writer, h *schema.Host) {
	w.uint(uint64(h.Run))
	w.number(h.RunRequests)
	w.number(h.RunThrottles)
	w.number(h.RunVisited)
	w.bool(h.Admitted)
	w.bool(h.Vouched)
	w.byte(byte(h.RunGivenUp))
	w.number(h.RunGivenUpAt)
	w.reason(&h.RunGivenUpWhy)
}

func encodeQueues(w *writer, h *schema.Host) {
	w.uint(uint64(h.Generation))
	w.number(h.Waiting)
	w.number(len(h.Queues))
	for i := range h.Queues {
		q := &h.Queues[i]
		w.byte(q.Priority)
		w.uint(uint64(q.Head))
		w.byte(q.Pos)
		w.uint(uint64(q.Tail))
		w.ids(q.Open)
	}
}

func encodeRetries(w *writer, retries []schema.Retry) {
	w.number(len(retries))
	for i := range retries {
		w.uint(uint64(retries[i].URL))
		w.number(retries[i].Attempts)
		w.millis(retries[i].Due)
		w.reason(&retries[i].Reason)
	}
}

func decodeHost(r *reader, id schema.HostID) *schema.Host {
	h := &schema.Host{
		ID:           id,
		Name:         r.string(),
		Address:      r.string(),
		WWW:          r.bool(),
		LastByte:     r.millis(),
		LastEnd:      r.millis(),
		Smoothed:     r.micros(),
		CrawlDelay:   r.micros(),
		Timeouts:     r.byte(),
		Failures:     r.byte(),
		SuspendedTo:  r.millis(),
		SuspendedFor: r.micros(),
		Throttles:    r.byte(),
		Suspension:   uint32(r.id()),
		RobotsAt:     r.millis(),
		RobotsStatus: r.number(),
		RobotsTries:  r.byte(),
		RobotsDue:    r.millis(),
		RobotsReason: r.reason(),
		RobotsFrom:   r.string(),
		RobotsSince:  r.millis(),
		SitemapsRun:  schema.RunID(r.id()),
		SitemapFiles: r.number(),
	}
	h.SitemapOthers = r.number()
	decodeHostRun(r, h)
	h.Requests = r.number()
	h.Visits = r.number()
	h.Known = r.number()
	h.Overflow = r.number()
	decodeQueues(r, h)
	h.Retries = decodeRetries(r)
	h.HTTPS = r.bool()
	h.SitemapsLeft, h.SitemapsFor = r.number(), schema.RunID(r.id())
	h.Files = r.number()
	h.OverflowBefore = r.number()
	h.LinkText = r.number()
	h.Heads = schema.Heads(r.byte())
	h.Others = r.number()
	h.Place = schema.SitePlace(r.byte())
	for range r.length(8) {
		h.Targets = append(h.Targets, r.fixed())
	}
	h.Walls, h.RunShown = r.byte(), r.bool()
	h.OthersWalls, h.RunOthersEnded, h.RobotsHTML = r.byte(), r.bool(), r.bool()
	h.RobotsWall = r.string()
	h.Payments, h.Preferences = r.byte(), r.string()
	h.Mazes = decodeMazes(r)
	h.ShownWWW, h.Missing = r.bool(), decodeMissing(r)
	return h
}

func encodeMazes(w *writer, mazes schema.Mazes) {
	w.number(len(mazes))
	for i := range mazes {
		w.string(mazes[i].Prefix)
		w.uint(uint64(mazes[i].Run))
		w.number(mazes[i].Pages)
		w.number(mazes[i].Other)
	}
}

func decodeMazes(r *reader) (mazes schema.Mazes) {
	for range r.length(4) {
		m := schema.Maze{Prefix: r.string(), Run: schema.RunID(r.id()), Pages: r.number(), Other: r.number()}
		mazes = append(mazes, m)
	}
	return mazes
}

func decodeHostRun(r *reader, h *schema.Host) {
	h.Run = schema.RunID(r.id())
	h.RunRequests = r.number()
	h.RunThrottles = r.number()
	h.RunVisited = r.number()
	h.Admitted = r.bool()
	h.Vouched = r.bool()
	h.RunGivenUp = schema.GiveUp(r.byte())
	h.RunGivenUpAt = r.number()
	h.RunGivenUpWhy = r.reason()
}

func decodeQueues(r *reader, h *schema.Host) {
	h.Generation = uint32(r.id())
	h.Waiting = r.number()
	after := -1 // priority of the previous queue
	for range r.length(5) {
		q := schema.Queue{Priority: r.byte(), Head: uint32(r.id()), Pos: r.byte(), Tail: uint32(r.id()), Open: r.ids(nil)}
		if int(q.Priority) <= after {
			r.fail()
		}
		if r.bad || q.Head > q.Tail || q.Pos >= chunkSize || q.Head == q.Tail && q.Pos != 0 || len(q.Open) >= chunkSize {
			r.fail()
			return
		}
		h.Queues, after = append(h.Queues, q), int(q.Priority)
	}
}

func decodeRetries(r *reader) []schema.Retry {
	var retries []schema.Retry
	for range r.length(5) {
		retries = append(retries, schema.Retry{URL: r.id(), Attempts: r.number(), Due: r.millis(), Reason: r.reason()})
	}
	return retries
}
