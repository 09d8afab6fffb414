package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// others are the requests of the run to pages of a host that its own site does not name, and the
// hosts that named these pages first.
type others struct {
	requests int
	hosts    []schema.HostID // at most namedOthers
	more     bool            // there are more hosts
}

// namedOthers is the most hosts named as having used up a budget.
const namedOthers = 2

// addOthers counts a page that its own host does not name.
func (ts *tallies) addOthers(o *others, p *Page) error {
	if p.Own || !p.Visited || p.Visit.Run != ts.core.run.ID || p.Visit.Requests == 0 {
		return nil
	}
	o.requests += p.Visit.Requests
	if o.more {
		return nil
	}
	return ts.core.view(func(tx *kv.Tx) error {
		u, err := tx.URLs.At(p.ID)
		if err != nil {
			return err
		}
		switch host := ts.core.store.HostOf(u.Referrer); {
		case u.Referrer != 0 && slices.Contains(o.hosts, host):
		case u.Referrer == 0 || host == p.Host || len(o.hosts) == namedOthers:
			o.more = true
		default:
			o.hosts = append(o.hosts, host)
		}
		return nil
	})
}

// usedBy says how much of the budget of a host went to pages that it does not name itself, and
// which hosts name them.
func (cv *coverage) usedBy(tx *kv.Tx, r *schema.Host, o *others) (string, error) {
	if o.requests == 0 {
		return "", nil
	}
	var names []string
	for _, id := range o.hosts {
		name, err := tx.Hosts.Name(id)
		if err != nil {
			return "", err
		}
		names = append(names, name)
	}
	if o.more || len(names) == 0 {
		names = append(names, "other hosts")
	}
	verb := "link"
	if len(names) == 1 && names[0] != "other hosts" {
		verb = "links"
	}
	return fmt.Sprintf("; %s of %s went to addresses that only %s %s to", amount.Commas(o.requests),
		amount.Of(max(r.RunRequests, o.requests), "request", ""), strings.Join(names, " and "), verb), nil
}
