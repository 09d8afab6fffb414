package serve

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A HostPage is a section of the list of hosts that match.
type HostPage struct {
	Total  int       `json:"total"` // that match
	Offset int       `json:"offset"`
	Hosts  []hostRow `json:"hosts"`
	Tags   []string  `json:"tags"` // that any host has
}

// A hostRow is a host in a list.
type hostRow struct {
	Domain  string `json:"domain"`
	Shown   string `json:"domain_shown,omitempty"` // the name as people see it, if it differs from the domain
	Class   string `json:"class"`
	Site    string `json:"site"`
	Cover   string `json:"cover"`   // in a word or two, for filters
	Trouble string `json:"trouble"` // why it is requested less often than its delay allows; empty: it is not
	survey.HostFigures

	Tags []string `json:"tags"`
	Note string   `json:"note"`
}

// A hostIndex filters and sorts hosts. It takes about 60 bytes a host. With it, a million hosts can
// be searched at every keystroke.
type hostIndex struct {
	Hosts  []hostKey           // by name
	orders map[string][]uint32 // indexes of Hosts by column, made when first needed
	tagged map[string]map[schema.HostID]bool
	scope  *scope.Scope // for filters by origin
}

// A hostKey holds the fields by which a host is filtered and sorted.
type hostKey struct {
	Name                             string
	ID                               schema.HostID
	Known, visited, visits, requests uint32
	delay, missing                   uint32
	Class                            schema.Class
	cover                            survey.Cover
	word                             uint32 // the rank of its coverage as people read it, see [coverWords]
	Trouble                          schema.TroubleKind
	depth                            uint8
}

// hostOrders returns the columns that hosts can be sorted by.
func hostOrders() map[string]func(*hostKey) uint32 {
	return map[string]func(*hostKey) uint32{
		"domain":        nil, // the order of the index
		"class":         func(k *hostKey) uint32 { return uint32(k.Class) },
		"coverage":      func(k *hostKey) uint32 { return k.word },
		"pages_known":   func(k *hostKey) uint32 { return k.Known },
		"pages_visited": func(k *hostKey) uint32 { return k.visited },
		"crawl_count":   func(k *hostKey) uint32 { return k.visits },
		"requests":      func(k *hostKey) uint32 { return k.requests },
		"delay_ms":      func(k *hostKey) uint32 { return k.delay },
		"known_missing": func(k *hostKey) uint32 { return k.missing },
		"min_depth":     func(k *hostKey) uint32 { return uint32(k.depth) },
	}
}

// index returns the index of the hosts with pages. It is made once.
func (o *opened) index() (*hostIndex, error) {
	if o.hosts != nil {
		return o.hosts, nil
	}
	cfg, run := o.Config(), o.Run()
	pace := census.NewPace(cfg, &run, o.Hosts.Record)
	x := &hostIndex{orders: map[string][]uint32{}, tagged: map[string]map[schema.HostID]bool{}, scope: o.Scope()}
	words := coverWords{}
	err := o.Hosts.Each(func(h *survey.HostReport) error {
		if h.Known > 0 {
			x.tag(h.Host.ID, h.Noted.Tags)
			x.Hosts = append(x.Hosts, hostKey{
				Name: h.Host.Name, ID: h.Host.ID, Known: uint32(h.Known), visited: uint32(h.Visited),
				visits: uint32(h.Visits), requests: uint32(h.Requests), missing: uint32(h.KnownMissing),
				delay: uint32(h.DelayMS), Class: h.Class, cover: h.Cover, word: words.add(h),
				Trouble: pace.Trouble(h.Host).Kind, depth: depthOf(h),
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ranks := words.ranks()
	for i := range x.Hosts {
		x.Hosts[i].word = ranks[x.Hosts[i].word]
	}
	slices.SortFunc(x.Hosts, func(a, b hostKey) int { return cmp.Compare(a.Name, b.Name) })
	o.hosts = x
	return x, nil
}

// A coverWord is the coverage of hosts without numbers and further lacks.
type coverWord struct {
	cover survey.Cover
	text  string
}

// coverWords numbers the different words of hosts.
type coverWords map[coverWord]uint32

// add returns the number of a host's word.
func (c coverWords) add(h *survey.HostReport) uint32 {
	text, _, _ := strings.Cut(h.Coverage, " (")
	text, _, _ = strings.Cut(text, ", ")
	word := coverWord{h.Cover, text}
	if _, known := c[word]; !known {
		c[word] = uint32(len(c))
	}
	return c[word]
}

// ranks returns the positions of all words by their numbers: as covers are ordered, then by text.
func (c coverWords) ranks() []uint32 {
	order := slices.SortedFunc(maps.Keys(c), func(a, b coverWord) int {
		return cmp.Or(cmp.Compare(a.cover, b.cover), strings.Compare(a.text, b.text))
	})
	ranks := make([]uint32, len(order))
	for rank, word := range order {
		ranks[c[word]] = uint32(rank)
	}
	return ranks
}

// Filters that select hosts of several classes, or of several covers.
const (
	classesVisited = "quality or discovered"
	classesListed  = "stub or blacklist"
	coversCut      = "cut short"
)

// hasClass reports whether a class is selected.
func hasClass(c schema.Class, wanted string) bool {
	switch wanted {
	case classesVisited:
		return c.Visitable()
	case classesListed:
		return !c.Visitable()
	}
	return wanted == "" || c.String() == wanted
}

// hasCover reports whether a cover is selected.
func hasCover(c survey.Cover, wanted string) bool {
	if wanted == coversCut {
		return c.Cut() && c != survey.CoverWaiting
	}
	return wanted == "" || c.String() == wanted
}

// tag records the tags of a host.
func (x *hostIndex) tag(id schema.HostID, tags []string) {
	for _, tag := range tags {
		if x.tagged[tag] == nil {
			x.tagged[tag] = map[schema.HostID]bool{}
		}
		x.tagged[tag][id] = true
	}
}

// sorted returns the indexes of all hosts in the order of a column, equal ones by name. nil is the order of the index.
func (x *hostIndex) sorted(column string) []uint32 {
	key := hostOrders()[column]
	if key == nil || x.orders[column] != nil {
		return x.orders[column]
	}
	order := make([]uint32, len(x.Hosts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(key(&x.Hosts[a]), key(&x.Hosts[b])) })
	x.orders[column] = order
	return order
}

// choose calls f for the hosts that match a query, in its order. origin is the number of their origin; -1: any.
func (x *hostIndex) choose(q desk.Query, origin int, f func(*hostKey)) {
	order, search := x.sorted(q.Text("sort")), strings.ToLower(q.Text("search"))
	class, cover, trouble, tag := q.Text("class"), q.Text("cover"), q.Text("reason"), q.Text("tag")
	for i := range x.Hosts {
		if q.Flag("desc") {
			i = len(x.Hosts) - 1 - i
		}
		if order != nil {
			i = int(order[i])
		}
		k := &x.Hosts[i]
		if hasClass(k.Class, class) && hasCover(k.cover, cover) &&
			(origin < 0 || slices.Contains(x.scope.OriginsOf(k.Name), origin)) &&
			(trouble == "" || k.Trouble.String() == trouble) &&
			(tag == "" || x.tagged[tag][k.ID]) && nameHas(k.Name, search) {
			f(k)
		}
	}
}

func (o *opened) answerHosts(_ context.Context, q desk.Query) (any, error) {
	x, err := o.index()
	if err != nil {
		return nil, err
	}
	page := HostPage{Offset: q.Number("offset"), Hosts: []hostRow{}, Tags: append([]string{},
		answer.SortedKeys(x.tagged)...)}
	origin := -1
	if name := q.Text("quality_origin"); name != "" {
		if origin, err = originAt(o.Survey, name); err != nil {
			return nil, err
		}
	}
	var chosen []schema.HostID
	x.choose(q, origin, func(k *hostKey) {
		if page.Total >= page.Offset && len(chosen) < q.Number("limit") {
			chosen = append(chosen, k.ID)
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
		page.Hosts = append(page.Hosts, newHostRow(h, pace))
	}
	return page, nil
}

func newHostRow(h *survey.HostReport, pace census.Pace) hostRow {
	return hostRow{
		Domain: h.Host.Name, Shown: weburl.ShownIfOther(h.Host.Name), Class: h.Class.String(), Site: h.Site,
		Cover: h.Cover.String(), Trouble: pace.Trouble(h.Host).String(), HostFigures: h.HostFigures,
		Tags: append([]string{}, h.Noted.Tags...), Note: h.Noted.Note,
	}
}

// depthOf returns the smallest depth of a host's pages, or [kv.NoDepth].
func depthOf(h *survey.HostReport) uint8 {
	if h.MinDepth == nil {
		return kv.NoDepth
	}
	return uint8(*h.MinDepth)
}
