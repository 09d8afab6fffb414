package crawl

import (
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// freshBatch is the number of hosts that Fresh copies in one commit.
const freshBatch = 1000

// Fresh copies what politeness needs from one state to an empty one: for every host that was ever
// requested, or was about to be, its clocks, its suspension and its copy of robots.txt. It also
// copies messages that the webhook has not yet received. Pages, links and runs are not copied. It
// returns the number of hosts.
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

// carryMessages copies the messages that the webhook has not yet received, if it still wants any.
func carryMessages(from, to *kv.Store) error {
	return from.View(func(old *kv.Tx) error {
		return to.Update(func(tx *kv.Tx) error { return webhook.Carry(old, tx) })
	})
}

// An askedHost is a host that has received a request, or may have just before a kill, with its
// robots.txt.
type askedHost struct {
	host   schema.Host
	robots schema.RobotsCopy
	copied bool
}

// askedHosts returns a batch of hosts from an id on, and the last id that it examined.
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

// carryClocks copies what the time of the next request to a host depends on. The counters of a run
// are not copied: the next run starts with its whole budget.
func carryClocks(to, from *schema.Host) {
	to.Address, to.WWW = from.Address, from.WWW
	to.LastByte, to.LastEnd, to.Smoothed = from.LastByte, from.LastEnd, from.Smoothed
	to.CrawlDelay, to.Timeouts, to.Failures = from.CrawlDelay, from.Timeouts, from.Failures
	to.SuspendedTo, to.SuspendedFor = from.SuspendedTo, from.SuspendedFor
	to.Throttles, to.Suspension = from.Throttles, from.Suspension
	to.RobotsAt, to.RobotsStatus, to.Preferences = from.RobotsAt, from.RobotsStatus, from.Preferences
	to.Requests, to.Visits = from.Requests, from.Visits
}
