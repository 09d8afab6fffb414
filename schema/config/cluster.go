package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// The limits of leases.
const (
	shortestLease = 30 * time.Second
	longestLease  = time.Hour
)

// Cluster is [cluster]: a terrain that several machines crawl together.
type Cluster struct {
	Hub         string        // comma-separated URLs; empty: one machine
	Shards      int           // used only when the terrain is created
	Folder      string        // of this node's state files
	MaxShards   int           // limit for this node; 0: no limit
	Lease       time.Duration // of a shard; part of the terrain
	Credentials string        // file
	CAFile      string        // empty: the system's certificates
}

func (c *Cluster) keys() []key {
	return []key{
		{name: "hub", doc: "nats://host:4222 or tls://host:4222, several with commas; \"\": one machine",
			value: str(&c.Hub, orEmpty(checkHub))},
		{name: "shards", doc: "number of parts of a new terrain; it never changes", value: number(&c.Shards, 1, 256)},
		{name: "folder", doc: "this node's state files, shard-000.bolt and so on", value: str(&c.Folder, notEmpty)},
		{name: "max-shards", doc: "shards that this node holds at most; 0: no limit", value: number(&c.MaxShards, 0, 256)},
		{name: "lease", unit: "duration", doc: "how long a machine crawls without the hub, 30s to 1h; fixed for a terrain",
			value: between(&c.Lease, shortestLease, longestLease)},
		{name: "credentials",
			doc:   "the hub's token file, or one with this node's NKey, readable by its owner alone",
			value: str(&c.Credentials, anything)},
		{name: "ca-file", doc: "trust anchors for the hub's certificate (PEM); \"\": those of the system",
			value: str(&c.CAFile, anything)},
	}
}

// HubURLs returns the URLs in Hub.
func (c *Cluster) HubURLs() []string {
	var urls []string
	for s := range strings.SplitSeq(c.Hub, ",") {
		if s = strings.TrimSpace(s); s != "" {
			urls = append(urls, s)
		}
	}
	return urls
}

func checkHub(s string) error {
	c := Cluster{Hub: s}
	if len(c.HubURLs()) == 0 {
		return errors.New("names no hub")
	}
	for _, text := range c.HubURLs() {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "":
			return fmt.Errorf("%s is not like \"nats://127.0.0.1:4222\" or \"tls://hub.example:4222\"", quote(text))
		case unspecified(u.Hostname()):
			return fmt.Errorf("%s names no machine: that is where a hub listens, not where it is", quote(text))
		case u.User != nil:
			return errors.New("holds a password: it belongs into the file that credentials names")
		case u.Scheme == "nats" && !loopback(u.Hostname()):
			return fmt.Errorf("%s is not on this machine: what goes there is only safe as tls://", quote(text))
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// unspecified reports whether a host is the unspecified address, 0.0.0.0 or ::. A server listens on it at every address
// of its machine, and no client can connect to it.
func unspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}
