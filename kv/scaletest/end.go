package scaletest

import (
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// end writes the rest of a walk's records: the lines of waiting pages, and the end of the run.
func (m *maker) end() error {
	cut := 0
	for _, s := range m.sites {
		if s.id == 0 {
			continue
		}
		if s.requests >= m.budget {
			cut++
		}
		if err := m.endSite(s); err != nil {
			return err
		}
	}
	m.run.Status, m.run.Walked = schema.RunCompleted, true
	m.run.Finished, m.run.Running = m.at, m.at.Sub(m.run.Started)
	m.run.End = schema.End{Kind: schema.EndFrontier}
	if cut > 0 {
		m.run.End = schema.End{Kind: schema.EndBudgets, N: cut}
	}
	return nil
}

// endSite writes what the run knows about a host.
func (m *maker) endSite(s *site) error {
	h, err := m.tx.Hosts.At(s.id)
	if err != nil {
		return err
	}
	h.Known, h.Others, h.Run, h.Admitted = len(s.pages), s.others, m.run.ID, true
	h.RunRequests, h.RunVisited, h.Visits, h.Requests = s.requests, s.visited, h.Visits+s.visited, h.Requests+s.requests
	switch s.fate {
	case fateListed:
		m.tx.Hosts.Put(h)
		return nil
	case fateAway:
		h.RunGivenUp, h.RunGivenUpAt, h.Failures = schema.GaveUpConnection, s.requests, 3
		h.RunGivenUpWhy = schema.Reason{Cause: schema.CauseConnections}
	case fateOwn:
		h.Known, h.Files, h.SitemapsRun, h.SitemapFiles = h.Known+1, 1, m.run.ID, 1
		err = m.sitemap(s)
		fallthrough
	default:
		h.HTTPS, h.LastByte, h.LastEnd, h.Smoothed = true, m.at, m.at, 80*time.Millisecond
		err = errors.Join(err, m.robots(h))
	}
	m.tx.Hosts.Put(h)
	return errors.Join(err, m.queue(h, s))
}

// robots keeps the robots.txt of a host.
func (m *maker) robots(h *schema.Host) error {
	h.Requests, h.RobotsAt, h.RobotsStatus = h.Requests+1, m.run.Started, 200
	text := fmt.Sprintf("User-agent: *\nDisallow: /%s/\nAllow: /%s/\n", m.word(), m.word())
	return m.tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{At: h.RobotsAt, Status: 200, Text: []byte(text)})
}

// queue puts the pages of a host in line that are within reach and were not visited.
func (m *maker) queue(h *schema.Host, s *site) error {
	for _, id := range s.pages {
		if depth, _ := m.store.Depth(id); m.store.Latest(id) < m.run.FirstVisit && depth <= maxDepth {
			if err := m.tx.Frontier.Push(h, depth, id); err != nil {
				return err
			}
		}
	}
	return nil
}
