package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A hostPage is some of the hosts that match.
type hostPage struct {
	Total  int       `json:"total"` // that match
	Offset int       `json:"offset"`
	Hosts  []hostRow `json:"hosts"`
	Tags   []string  `json:"tags"` // that any host has
}

// A hostRow is a host in a list.
type hostRow struct {
	Domain   string `json:"domain"`
	Shown    string `json:"domain_shown,omitempty"` // to a person, if that is not the domain alone
	Class    string `json:"class"`
	Title    string `json:"title"`
	Site     string `json:"site"`
	Cover    string `json:"cover"`    // in a word or two, the same for all hosts that share it
	Coverage string `json:"coverage"` // with all that was in the way
	Trouble  string `json:"trouble"`  // why it is not asked as its delay allows; empty: it is
	MinDepth *int   `json:"min_depth"`
	Known    int    `json:"pages_known"`
	Visited  int    `json:"pages_visited"`
	Waiting  int    `json:"pages_waiting"`
	Visits   int    `json:"crawl_count"`
	Requests int    `json:"requests"`
	DelayMS  int64  `json:"delay_ms"`
	Missing  int    `json:"known_missing"`

	Tags []string `json:"tags"`
	Note string   `json:"note"`
}

// A hostIndex is what hosts are chosen and ordered by: some 60 bytes a host, so that a
// million of them can be searched while somebody types.
type hostIndex struct {
	hosts  []hostKey           // by name
	orders map[string][]uint32 // places in hosts, made when first asked for
	tagged map[string]map[schema.HostID]bool
}

type hostKey struct {
	name                             string
	id                               schema.HostID
	known, visited, visits, requests uint32
	delay, missing                   uint32
	class                            schema.Class
	cover                            survey.Cover
	trouble                          schema.TroubleKind
	depth                            uint8
}

// hostOrders are the columns that hosts are sorted by.
func hostOrders() map[string]func(*hostKey) uint32 {
	return map[string]func(*hostKey) uint32{
		"domain":        nil, // as they are
		"pages_known":   func(k *hostKey) uint32 { return k.known },
		"pages_visited": func(k *hostKey) uint32 { return k.visited },
		"crawl_count":   func(k *hostKey) uint32 { return k.visits },
		"requests":      func(k *hostKey) uint32 { return k.requests },
		"delay_ms":      func(k *hostKey) uint32 { return k.delay },
		"known_missing": func(k *hostKey) uint32 { return k.missing },
		"min_depth":     func(k *hostKey) uint32 { return uint32(k.depth) },
	}
}

// index returns the index of the hosts with pages, which is made once.
func (o *opened) index() (*hostIndex, error) {
	if o.hosts != nil {
		return o.hosts, nil
	}
	cfg, run := o.Config(), o.Run()
	pace := census.NewPace(cfg, &run, o.Hosts.Record)
	x := &hostIndex{orders: map[string][]uint32{}, tagged: map[string]map[schema.HostID]bool{}}
	err := o.Hosts.Each(func(h *survey.HostReport) error {
		if h.Known > 0 {
			x.tag(h.Host.ID, h.Noted.Tags)
			x.hosts = append(x.hosts, hostKey{
				name: h.Host.Name, id: h.Host.ID, known: uint32(h.Known), visited: uint32(h.Visited),
				visits: uint32(h.Host.Visits), requests: uint32(h.Host.Requests), missing: uint32(h.KnownMissing),
				delay: uint32(cfg.FullDelay(h.Host).Milliseconds()), class: h.Class, cover: h.Cover,
				trouble: pace.Trouble(h.Host).Kind, depth: h.MinDepth,
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(x.hosts, func(a, b hostKey) int { return cmp.Compare(a.name, b.name) })
	o.hosts = x
	return x, nil
}

// tag notes the tags of a host.
func (x *hostIndex) tag(id schema.HostID, tags []string) {
	for _, tag := range tags {
		if x.tagged[tag] == nil {
			x.tagged[tag] = map[schema.HostID]bool{}
		}
		x.tagged[tag][id] = true
	}
}

// sorted returns the places of all hosts in the order of a column, equal ones by name;
// nil: as they are.
func (x *hostIndex) sorted(column string) []uint32 {
	key := hostOrders()[column]
	if key == nil || x.orders[column] != nil {
		return x.orders[column]
	}
	order := make([]uint32, len(x.hosts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(key(&x.hosts[a]), key(&x.hosts[b])) })
	x.orders[column] = order
	return order
}

// choose calls f for the hosts that a query is about, in its order.
func (x *hostIndex) choose(q desk.Query, f func(*hostKey)) {
	order, search := x.sorted(q.Text("sort")), strings.ToLower(q.Text("search"))
	class, cover, trouble, tag := q.Text("class"), q.Text("cover"), q.Text("reason"), q.Text("tag")
	for i := range x.hosts {
		if q.Flag("desc") {
			i = len(x.hosts) - 1 - i
		}
		if order != nil {
			i = int(order[i])
		}
		k := &x.hosts[i]
		if (class == "" || k.class.String() == class) && (cover == "" || k.cover.String() == cover) &&
			(trouble == "" || k.trouble.String() == trouble) &&
			(tag == "" || x.tagged[tag][k.id]) && nameHas(k.name, search) {
			f(k)
		}
	}
}

// nameHas reports whether a text is a part of a host's name, as it is or as it reads.
func nameHas(name, search string) bool {
	return strings.Contains(name, search) || strings.Contains(weburl.Unicode(name), search)
}

func (o *opened) answerHosts(q desk.Query) (any, error) {
	x, err := o.index()
	if err != nil {
		return nil, err
	}
	page := hostPage{Offset: q.Number("offset"), Hosts: []hostRow{}, Tags: append([]string{},
		answer.SortedKeys(x.tagged)...)}
	var chosen []schema.HostID
	x.choose(q, func(k *hostKey) {
		if page.Total >= page.Offset && len(chosen) < q.Number("limit") {
			chosen = append(chosen, k.id)
		}
		page.Total++
	})
	run := o.Run()
	pace := census.NewPace(o.Config(), &run, o.Hosts.Record)
	for _, id := range chosen {
		h, err := o.Hosts.Report(id)
		if err != nil {
			return nil, err
		}
		page.Hosts = append(page.Hosts, o.newHostRow(h, pace))
	}
	return page, nil
}

func (o *opened) newHostRow(h *survey.HostReport, pace census.Pace) hostRow {
	row := hostRow{
		Domain: h.Host.Name, Shown: weburl.ShownIfOther(h.Host.Name),
		Class: h.Class.String(), Title: h.Title, Site: h.Site, Cover: h.Cover.String(),
		Coverage: h.Coverage, Trouble: pace.Trouble(h.Host).String(), Known: h.Known, Visited: h.Visited,
		Waiting: h.Waiting, Visits: h.Host.Visits, Requests: h.Host.Requests,
		DelayMS: o.Config().FullDelay(h.Host).Milliseconds(), Missing: h.KnownMissing,
		Tags: append([]string{}, h.Noted.Tags...), Note: h.Noted.Note,
	}
	if h.MinDepth != kv.NoDepth {
		depth := int(h.MinDepth)
		row.MinDepth = &depth
	}
	return row
}
