package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An Owner is who several hosts of different sites say is behind them: their pages link to each other with rel=me.
// A host can speak only for itself, so links of one direction say nothing. On a host with pages of many people these
// name each other, but none of them is the front page; so on each host the front page has to take part.
type Owner struct {
	Node  string   // the entity: the first of the hosts, or the one to which a rule assigns some of them
	Hosts []string // two or more: the origin, or else the most trusted one, then by name
	Links []MeLink // one of each direction for each pair
}

// A MeLink is a link of kind me.
type MeLink struct{ From, To string }

// Block returns the [[entity]] entry that makes one node of the hosts, if it comes after all others.
func (o *Owner) Block() string {
	others := slices.DeleteFunc(slices.Clone(o.Hosts), func(host string) bool { return host == o.Node })
	return "[[entity]]\ndomain = " + quoted(o.Node) + "\nby = \"host\"\nwith = " + list(others) + "\n"
}

// A claim is what two hosts say of each other.
type claim struct {
	hosts [2]schema.HostID
	first [2][2]schema.ID // by the host that links: its first link to the other; zero: none
	front [2]bool         // the front page of the host takes part
}

// owners returns who is behind hosts that are not one entity yet, by the first of their hosts.
func (f *finder) owners(most int) ([]Owner, error) {
	claims, err := f.claims()
	if err != nil {
		return nil, err
	}
	above := map[schema.HostID]schema.HostID{} // towards a host that represents all of one owner
	top := func(host schema.HostID) schema.HostID {
		for above[host] != 0 {
			if next := above[above[host]]; next != 0 {
				above[host] = next
			}
			host = above[host]
		}
		return host
	}
	for _, c := range claims {
		if a, b := top(c.hosts[0]), top(c.hosts[1]); a != b {
			above[b] = a
		}
	}
	groups := map[schema.HostID][]*claim{}
	for _, c := range claims {
		groups[top(c.hosts[0])] = append(groups[top(c.hosts[0])], c)
	}
	var found []Owner
	for _, group := range groups {
		o, err := f.owner(group)
		if err != nil {
			return nil, err
		}
		if o.Node != "" {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b Owner) int { return cmp.Compare(a.Hosts[0], b.Hosts[0]) })
	return found[:min(most, len(found))], nil
}

// claims returns the pairs of hosts whose pages link to each other, in the order of their hosts.
func (f *finder) claims() ([]*claim, error) {
	speaks, err := f.survey.Speakers()
	if err != nil {
		return nil, err
	}
	pairs, fronts := map[[2]schema.HostID]*claim{}, map[schema.HostID]schema.ID{}
	for _, link := range f.links.Me {
		from, to := f.survey.Hosts.Of(link[0]), f.survey.Hosts.Of(link[1])
		if from == to || !speaks(link[0]) {
			continue
		}
		key, side := [2]schema.HostID{min(from, to), max(from, to)}, 0
		if from > to {
			side = 1
		}
		c := pairs[key]
		if c == nil {
			c = &claim{hosts: key}
			pairs[key] = c
		}
		if first := &c.first[side]; first[0] == 0 || link[0] < first[0] {
			*first = link
		}
		for end, host := range [2]schema.HostID{from, to} {
			front, known := fronts[host]
			if !known {
				if front, _, err = f.survey.Lookup("https://" + f.hosts[host] + "/"); err != nil {
					return nil, err
				}
				fronts[host] = front
			}
			c.front[side^end] = c.front[side^end] || front == link[end]
		}
	}
	var all []*claim
	for _, c := range pairs {
		if c.first[0][0] > 0 && c.first[1][0] > 0 && c.front == [2]bool{true, true} && f.apart(c.hosts) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *claim) int { return slices.Compare(a.hosts[:], b.hosts[:]) })
	return all, nil
}

// apart reports whether two hosts are of different sites, are not one entity, and can be named in a configuration.
func (f *finder) apart(hosts [2]schema.HostID) bool {
	var sites, nodes [2]string
	for i, host := range hosts {
		name, _ := weburl.SplitPort(f.hosts[host])
		if _, _, err := scope.ParsePattern(name); err != nil {
			return false
		}
		sites[i], nodes[i] = weburl.Site(name), f.survey.Scope().Entity("https://"+f.hosts[host]+"/")
	}
	return sites[0] != sites[1] && nodes[0] != nodes[1]
}

// owner names the hosts and links of claims. Without a node, no further rule can make one entity of the hosts.
func (f *finder) owner(claims []*claim) (o Owner, err error) {
	var hosts []schema.HostID
	for _, c := range claims {
		hosts = append(hosts, c.hosts[:]...)
		for _, link := range c.first {
			var l MeLink
			if l.From, err = f.survey.Norm(link[0]); err != nil {
				return o, err
			}
			if l.To, err = f.survey.Norm(link[1]); err != nil {
				return o, err
			}
			o.Links = append(o.Links, l)
		}
	}
	slices.SortFunc(o.Links, func(a, b MeLink) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	slices.SortFunc(hosts, func(a, b schema.HostID) int { return strings.Compare(f.hosts[a], f.hosts[b]) })
	hosts = slices.Compact(hosts)
	head := slices.MinFunc(hosts, func(a, b schema.HostID) int {
		return cmp.Or(cmp.Compare(min(f.origin[b], 0), min(f.origin[a], 0)), cmp.Compare(f.trust[b], f.trust[a]))
	})
	for _, host := range append([]schema.HostID{head}, hosts...) {
		name, _ := weburl.SplitPort(f.hosts[host])
		if !slices.Contains(o.Hosts, name) {
			o.Hosts = append(o.Hosts, name)
		}
	}
	o.Node = f.nodeOf(o.Hosts)
	return o, nil
}

// nodeOf returns the entity that can be that of all hosts: the one to which rules assign some of them, or else the
// first host; empty: rules assign them to several.
func (f *finder) nodeOf(hosts []string) (node string) {
	of := f.survey.Scope()
	for _, host := range hosts {
		if !of.HasEntity(host) {
			continue
		}
		ruled := of.Entity("https://" + host + "/")
		if node != "" && node != ruled {
			return ""
		}
		node = ruled
	}
	return cmp.Or(node, hosts[0])
}
