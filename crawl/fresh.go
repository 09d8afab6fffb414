package crawl

import (
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// freshBatch is the number of hosts that one commit of Fresh carries over.
const freshBatch = 1000

// Fresh carries what politeness needs from one state to an empty one: of every
// host that was ever asked, or was about to be, its clocks, its suspension and its copy of
// robots.txt; and what is still to be told to the webhook. Pages, links and runs stay
// behind. It returns the number of hosts.
func Fresh(from, to *kv.Store) (int, error) {
	if to.Hosts() > 0 {
		return 0, fmt.Errorf("carry clocks over: %s is not empty", to.Path())
	}
	carried := 0
	for next := schema.HostID(1); int(next) <= from.Hosts(); {
		hosts, last, err := askedHosts(from, next)
		if err == nil {
			err = putAsked(to, hosts)
		}
		if err != nil {
			return carried, fmt.Errorf("carry clocks over: %w", err)
		}
		carried += len(hosts)
		next = last + 1
	}
	if err := carryMessages(from, to); err != nil {
		return carried, fmt.Errorf("carry messages over: %w", err)
	}
	return carried, nil
}

// carryMessages copies what is still to be told to the webhook, if it wants to hear more.
func carryMessages(from, to *kv.Store) error {
	return from.View(func(old *kv.Tx) error {
		return to.Update(func(tx *kv.Tx) error { return webhook.Carry(old, tx) })
	})
}

// An askedHost is a host that has heard from us, or may have just before a kill, with its robots.txt.
type askedHost struct {
	host   schema.Host
	robots schema.RobotsCopy
	copied bool
}

// askedHosts returns some hosts from an id on, and the last id that it looked at.
func askedHosts(from *kv.Store, next schema.HostID) (hosts []askedHost, last schema.HostID, err error) {
	err = from.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(next, func(h *schema.Host) (bool, error) {
			last = h.ID
			if h.Requests == 0 && !h.Admitted && h.RobotsAt.IsZero() && h.SuspendedTo.IsZero() {
				return h.ID-next < freshBatch, nil
			}
			a := askedHost{host: *h}
			var err error
			a.robots, a.copied, err = tx.Hosts.Robots(h.ID)
			hosts = append(hosts, a)
			return h.ID-next < freshBatch, err
		})
	})
	return hosts, last, err
}

func putAsked(to *kv.Store, hosts []askedHost) error {
	return to.Update(func(tx *kv.Tx) error {
		for i := range hosts {
			h, err := tx.Hosts.Add(hosts[i].host.Name)
			if err != nil {
				return err
			}
			carryClocks(h, &hosts[i].host)
			tx.Hosts.Put(h)
			if hosts[i].copied {
				if err := tx.Hosts.PutRobots(h.ID, hosts[i].robots); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// carryClocks copies what the next request to a host depends on. Counters of a
// run stay behind: the next one begins with all of its budget.
func carryClocks(to, from *schema.Host) {
	to.Address, to.WWW = from.Address, from.WWW
	to.LastByte, to.LastEnd, to.Smoothed = from.LastByte, from.LastEnd, from.Smoothed
	to.CrawlDelay, to.Timeouts, to.Failures = from.CrawlDelay, from.Timeouts, from.Failures
	to.SuspendedTo, to.SuspendedFor = from.SuspendedTo, from.SuspendedFor
	to.Throttles, to.Suspension = from.Throttles, from.Suspension
	to.RobotsAt, to.RobotsStatus = from.RobotsAt, from.RobotsStatus
	to.Requests, to.Visits = from.Requests, from.Visits
}
