// Package webhook tells one address what happens to a crawl, as Standard Webhooks 1.0 says
// (https://www.standardwebhooks.com).
//
// An [Event] becomes a message in the state file, in the transaction of what it tells, so
// that neither is there without the other. A [Sender] sends messages afterwards: it writes
// down that it tries, sends, and writes down what came of it. A kill in between repeats a
// message, with the same id and the same body; none is lost. A message has ten tries in
// three days, see [Sender.Run].
//
// Hosts that are given up are gathered for 10 s, at most 100 in a message. At most 1,000
// messages wait; beyond that no further hosts are told of, but runs are.
//
// Of a terrain of several machines each state file has the messages of its shard: of hosts and
// origins those that it has, of the run that of shard 0 alone.
//
// Nothing of the receiver is trusted. Only public addresses are dialled, as package fetch
// says; no redirect is followed, no answer read but for [Sender.Test].
package webhook

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// The kinds of events.
const (
	RunCompleted   = "run.completed"   // its data: a Run
	RunInterrupted = "run.interrupted" // a Run
	HostGivenUp    = "host.given_up"   // Hosts
	OriginCut      = "origin.cut"      // Origins
	DiskLow        = "disk.low"        // a Disk
	Test           = "test"            // a Subject
)

// An Event is something that happened.
type Event struct {
	Kind string    `json:"type"`
	At   time.Time `json:"timestamp"`
	Data any       `json:"data"`
}

// A Subject says of what an event tells.
type Subject struct {
	Crawler string       `json:"crawler"` // [user-agent] crawler-name
	State   string       `json:"state"`   // name of the state file, or of the folder of several, without its folder
	Run     schema.RunID `json:"run_id,omitempty"`
}

// SubjectOf returns the subject of a configuration's events.
func SubjectOf(cfg *config.Config, run schema.RunID) Subject {
	path := cfg.State.Path
	if cfg.Cluster.Hub != "" {
		path = cfg.Cluster.Folder
	}
	return Subject{cfg.UserAgent.CrawlerName, filepath.Base(path), run}
}

// A Run is a run that has ended, as far as it has.
type Run struct {
	Subject
	Status   string         `json:"status"`
	Reason   string         `json:"reason"`
	Started  time.Time      `json:"started_at"`
	Finished time.Time      `json:"finished_at"`
	Seconds  float64        `json:"running_seconds"`
	Pages    int            `json:"pages"`
	Requests int            `json:"requests"`
	Errors   map[string]int `json:"errors"` // by kind

	// Missing is the number of shards of the terrain that are not counted, for they did not say.
	Missing int `json:"shards_not_counted,omitempty"`
}

// NewRun tells of a run.
func NewRun(cfg *config.Config, run *schema.Run) Run {
	r := Run{
		Subject: SubjectOf(cfg, run.ID), Status: run.Status.String(), Reason: run.End.String(),
		Started:  run.Started.UTC(),
		Finished: run.Finished.UTC(), Seconds: run.Running.Seconds(), Pages: run.Pages, Requests: run.Requests,
		Errors: map[string]int{},
	}
	for kind, n := range run.Errors {
		r.Errors[kind] = n
	}
	return r
}

// Hosts are those that a run asks no more.
type Hosts struct {
	Subject
	Hosts []Host `json:"hosts"`
}

// A Host is one that was given up.
type Host struct {
	Domain   string `json:"domain"`
	Reason   string `json:"reason"`
	Requests int    `json:"requests"` // for pages, in the run
}

// Origins are those of which a run leaves pages out.
type Origins struct {
	Subject
	Origins []Origin `json:"origins"`
}

// An Origin is one that was cut.
type Origin struct {
	Origin  string   `json:"quality_origin"`
	Reason  string   `json:"reason"`  // the key that cut it, and its value
	Hosts   int      `json:"hosts"`   // of it that were cut
	Domains []string `json:"domains"` // of these, the first ten
}

// A Disk is one that has no room for the next commit.
type Disk struct {
	Subject
	Free uint64 `json:"free_bytes"`
}

// MaxGathered is the number of hosts, or origins, in one message.
const MaxGathered = 100

const (
	gatherTime = 10 * time.Second
	mostWait   = 1000 // messages, beyond which no further hosts are told of
)

// metaEnded is the name under which the address is kept that has answered 410 Gone.
const metaEnded = "webhook ended"

// Tells reports whether events are told under a configuration: there is an address, and
// it has not answered 410 Gone.
func Tells(tx *kv.Tx, cfg *config.Config) (bool, error) {
	if cfg.Monitor.Webhook == "" {
		return false, nil
	}
	ended, err := tx.Meta.Value(metaEnded)
	return string(ended) != cfg.Monitor.Webhook, err
}

// Carry copies to an empty state file what another one has still to tell, and which address has
// answered 410 Gone.
func Carry(from, to *kv.Tx) error {
	ended, err := from.Meta.Value(metaEnded)
	if err != nil {
		return err
	}
	err = from.Messages.Each(func(m *schema.Message) (bool, error) { return true, to.Messages.Put(m) })
	return errors.Join(err, to.Meta.Put(metaEnded, ended))
}

// Add writes an event into the transaction of what it tells, unless nobody is to be told.
func Add(tx *kv.Tx, cfg *config.Config, kind string, data any) error {
	tells, err := Tells(tx, cfg)
	if err != nil || !tells {
		return err
	}
	m, err := newMessage(kind, data)
	return errors.Join(err, tx.Messages.Put(m))
}

// newMessage is a message that may be sent at once.
func newMessage(kind string, data any) (*schema.Message, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	body, err := json.Marshal(Event{kind, now, data})
	return &schema.Message{ID: "msg_" + rand.Text(), Kind: kind, Made: now, Next: now, Body: body}, err
}

// AddHosts writes hosts that were given up into the transaction that gives them up, unless
// nobody is to be told: into the message that gathers them, as far as there is one of the
// same run that was not tried yet.
func AddHosts(tx *kv.Tx, cfg *config.Config, run schema.RunID, hosts []Host) error {
	tells, err := Tells(tx, cfg)
	if err != nil || !tells {
		return err
	}
	subject := SubjectOf(cfg, run)
	for len(hosts) > 0 {
		last, waiting, err := tx.Messages.Last()
		if err != nil {
			return err
		}
		m, list, err := gathering(last, subject)
		if err != nil || m.Seq == 0 && waiting >= mostWait {
			return err
		}
		n := min(len(hosts), MaxGathered-len(list))
		if err := putHosts(tx, m, Hosts{subject, append(list, hosts[:n]...)}); err != nil {
			return err
		}
		hosts = hosts[n:]
	}
	return nil
}

// gathering returns the message that hosts are gathered in, with those that it has: the
// last one, if it still does, or a new one.
func gathering(last *schema.Message, subject Subject) (*schema.Message, []Host, error) {
	if last != nil && last.Kind == HostGivenUp && last.Tries == 0 && time.Now().Before(last.Next) {
		var has struct{ Data Hosts }
		err := json.Unmarshal(last.Body, &has)
		if err == nil && has.Data.Subject == subject && len(has.Data.Hosts) < MaxGathered {
			return last, has.Data.Hosts, nil
		}
	}
	m, err := newMessage(HostGivenUp, nil)
	m.Next = m.Made.Add(gatherTime)
	return m, nil, err
}

// putHosts stores the message that gathers hosts; one that is full may be sent at once.
func putHosts(tx *kv.Tx, m *schema.Message, hosts Hosts) (err error) {
	if len(hosts.Hosts) >= MaxGathered {
		m.Next = m.Made
	}
	if m.Body, err = json.Marshal(Event{m.Kind, m.Made, hosts}); err != nil {
		return err
	}
	return tx.Messages.Put(m)
}
