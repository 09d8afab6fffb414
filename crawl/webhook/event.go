// Package webhook reports what happens to a crawl to one address, according to Standard Webhooks 1.0
// (https://www.standardwebhooks.com).
//
// An [Event] is stored as a message in the state file, in the same transaction as the change it reports, so
// that neither exists without the other. A [Sender] sends messages afterwards: it records the try, sends, and
// records the outcome. After a kill in between, the message is repeated with the same id and body; no message
// is lost. A message is tried ten times over three days, see [Sender.Run].
//
// Hosts that are given up are gathered for 10 s, at most 100 per message. At most 1,000 messages wait; beyond
// that, further hosts are not reported, but runs are.
//
// If a terrain spans several machines, each state file has the messages of its shard: those for its own hosts
// and origins, and in shard 0 also those for the run.
//
// The receiver is not trusted. Only public addresses are dialled, see package fetch; redirects are not
// followed, and answers are not read except by [Sender.Test].
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
	RunCompleted   = "run.completed"   // data: a Run
	RunInterrupted = "run.interrupted" // a Run
	HostGivenUp    = "host.given_up"   // Hosts
	HostWalled     = "host.walled"     // Hosts: those given up because they show walls, which are in host.given_up too
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

// A Subject says what an event is about.
type Subject struct {
	Crawler string       `json:"crawler"` // [user-agent] crawler-name
	State   string       `json:"state"`   // base name of the state file, or of the folder of several
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

// A Run is a run that has ended or was interrupted.
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

	// Missing is the number of the terrain's shards that did not report and are not included.
	Missing int `json:"shards_not_counted,omitempty"`
}

// NewRun returns the data of an event about run.
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

// Hosts lists hosts that a run no longer requests.
type Hosts struct {
	Subject
	Hosts []Host `json:"hosts"`
}

// A Host is a host that was given up.
type Host struct {
	Domain   string `json:"domain"`
	Reason   string `json:"reason"`
	Requests int    `json:"requests"` // for pages, in this run
}

// Origins lists the origins of which a run omits pages.
type Origins struct {
	Subject
	Origins []Origin `json:"origins"`
}

// An Origin is an origin that was cut.
type Origin struct {
	Origin  string   `json:"quality_origin"`
	Reason  string   `json:"reason"`  // the key that cut it, with its value
	Hosts   int      `json:"hosts"`   // number of its hosts that were cut
	Domains []string `json:"domains"` // the first ten of these
}

// A Disk is a disk without room for the next commit.
type Disk struct {
	Subject
	Free uint64 `json:"free_bytes"`
}

// MaxGathered is the largest number of hosts or origins in one message.
const MaxGathered = 100

const (
	gatherTime = 10 * time.Second
	mostWait   = 1000 // waiting messages; beyond this, further hosts are not reported
)

// metaEnded is the key of the address that has answered 410 Gone.
const metaEnded = "webhook ended"

// Tells reports whether events are sent under a configuration: it has an address, and that has not answered
// 410 Gone.
func Tells(tx *kv.Tx, cfg *config.Config) (bool, error) {
	if cfg.Monitor.Webhook == "" {
		return false, nil
	}
	ended, err := tx.Meta.Value(metaEnded)
	return string(ended) != cfg.Monitor.Webhook, err
}

// Carry copies another state file's unsent messages, and the address that answered 410 Gone, to an empty
// state file.
func Carry(from, to *kv.Tx) error {
	ended, err := from.Meta.Value(metaEnded)
	if err != nil {
		return err
	}
	err = from.Messages.Each(func(m *schema.Message) (bool, error) { return true, to.Messages.Put(m) })
	return errors.Join(err, to.Meta.Put(metaEnded, ended))
}

// Add stores an event in the transaction of the change it reports, unless no events are sent.
func Add(tx *kv.Tx, cfg *config.Config, kind string, data any) error {
	tells, err := Tells(tx, cfg)
	if err != nil || !tells {
		return err
	}
	m, err := newMessage(kind, data)
	return errors.Join(err, tx.Messages.Put(m))
}

// newMessage returns a message that may be sent at once.
func newMessage(kind string, data any) (*schema.Message, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	body, err := json.Marshal(Event{kind, now, data})
	return &schema.Message{ID: "msg_" + rand.Text(), Kind: kind, Made: now, Next: now, Body: body}, err
}

// AddHosts stores an event of a kind about hosts in the transaction that gives them up, unless no events are sent. It
// adds the hosts to the gathering message of the kind, if there is one of the same run that has not been tried yet.
func AddHosts(tx *kv.Tx, cfg *config.Config, run schema.RunID, kind string, hosts []Host) error {
	tells, err := Tells(tx, cfg)
	if err != nil || !tells {
		return err
	}
	subject := SubjectOf(cfg, run)
	for len(hosts) > 0 {
		last, waiting, err := lastOf(tx, kind)
		if err != nil {
			return err
		}
		m, list, err := gathering(last, kind, subject)
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

// lastOf returns the newest message of a kind, nil if there is none, and the number of messages of all kinds.
func lastOf(tx *kv.Tx, kind string) (last *schema.Message, waiting int, err error) {
	var seq uint64
	err = tx.Messages.Heads(func(m *schema.Message) bool {
		if waiting++; m.Kind == kind {
			seq = m.Seq
		}
		return true
	})
	if err == nil && seq != 0 {
		last, err = tx.Messages.At(seq)
	}
	return last, waiting, err
}

// gathering returns the message that gathers hosts, with its hosts so far: the last one of the kind, if it is still
// gathering, or a new one. A message that was claimed is not gathering any more, even if an interrupted try does not
// count: the receiver may have it. Its Next tells.
func gathering(last *schema.Message, kind string, subject Subject) (*schema.Message, []Host, error) {
	if last != nil && last.Tries == 0 && last.Next.Equal(last.Made.Add(gatherTime)) && time.Now().Before(last.Next) {
		var has struct{ Data Hosts }
		err := json.Unmarshal(last.Body, &has)
		if err == nil && has.Data.Subject == subject && len(has.Data.Hosts) < MaxGathered {
			return last, has.Data.Hosts, nil
		}
	}
	m, err := newMessage(kind, nil)
	m.Next = m.Made.Add(gatherTime)
	return m, nil, err
}

// putHosts stores the gathering message; a full one may be sent at once.
func putHosts(tx *kv.Tx, m *schema.Message, hosts Hosts) (err error) {
	if len(hosts.Hosts) >= MaxGathered {
		m.Next = m.Made
	}
	if m.Body, err = json.Marshal(Event{m.Kind, m.Made, hosts}); err != nil {
		return err
	}
	return tx.Messages.Put(m)
}

// HostOf returns the host or origin that a message is about, or the first of several; empty: it is about none.
func HostOf(m *schema.Message) string {
	var event struct {
		Data struct {
			Hosts   []Host   `json:"hosts"`
			Origins []Origin `json:"origins"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(m.Body, &event); {
	case err != nil:
		return ""
	case (m.Kind == HostGivenUp || m.Kind == HostWalled) && len(event.Data.Hosts) > 0:
		return event.Data.Hosts[0].Domain
	case m.Kind == OriginCut && len(event.Data.Origins) > 0 && len(event.Data.Origins[0].Domains) > 0:
		return event.Data.Origins[0].Domains[0]
	}
	return ""
}
