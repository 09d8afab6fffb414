package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/parked"
)

// parkedHosts knows the hosts whose front page offers the domain.
type parkedHosts struct {
	core   *core
	stands *stands
	hosts  *hosts
	byHost map[schema.HostID]parkedHost
}

// A parkedHost is the front page of a host, and the rule by which it offers the domain; empty: it does not.
type parkedHost struct {
	front schema.ID // 0: it was not visited
	rule  string
}

// of returns what is known about a host.
func (pk *parkedHosts) of(tx *kv.Tx, id schema.HostID) (parkedHost, error) {
	if found, ok := pk.byHost[id]; ok {
		return found, nil
	}
	h, err := pk.hosts.host(tx, id)
	if err != nil {
		return parkedHost{}, err
	}
	found, err := pk.look(tx, id, h.name)
	if err == nil {
		if pk.byHost == nil {
			pk.byHost = map[schema.HostID]parkedHost{}
		}
		pk.byHost[id] = found
	}
	return found, err
}

// look reads the front page of a host.
func (pk *parkedHosts) look(tx *kv.Tx, host schema.HostID, name string) (parkedHost, error) {
	id, known, err := pk.core.lookup(front(name))
	if err != nil || !known || pk.core.latest(id) == 0 {
		return parkedHost{}, err
	}
	found := parkedHost{front: id}
	v, err := pk.stands.visit(tx, pk.core.latest(id))
	if err != nil || v.State != schema.Processed || v.Answer != schema.AnswerPage {
		return found, err
	}
	var rule *parked.Rule
	if v.RedirectTo != 0 {
		to, err := tx.URLs.Norm(v.RedirectTo)
		if err != nil {
			return found, err
		}
		rule = parked.ByRedirect(name, to)
	} else if v.SimHash == 0 && !pk.core.leadsOn(host, v.Links) {
		rule = parked.ByTitle(name, v.Title)
	}
	if rule != nil {
		found.rule = rule.ID
	}
	return found, nil
}
