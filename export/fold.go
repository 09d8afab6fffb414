package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// A Fold aggregates pages and their links to a higher level. It needs all hosts, then all pages, each
// in the order of the survey, and then reads the links.
type Fold struct {
	survey *survey.Survey
	level  Level
	ids    map[string]uint32 // of entities and sites
	nodes  []Node            // by id; the first is unused
	covers []cover           // parallel to nodes
	of     []uint32          // by page for entities, by host for sites
	kinds  []survey.Cover    // by host
	noted  map[schema.HostID]schema.HostNote
	said   map[schema.HostID]saying // of hosts that say anything
	seen   map[[2]uint32]bool
	last   []lastEntity // by host, for entities
}

// A lastEntity is the entity of the last page of a host, which is often that of the next page.
type lastEntity struct {
	name string
	id   uint32 // 0: none
}

// A saying is what a host says other than by its pages.
type saying struct {
	use     string // what its owner says about the use of its pages, see package preference
	missing string // how it answers requests for pages that do not exist, see [missing.Manner]
	parked  string // the rule by which it is for sale
	wall    string // see [survey.HostDetails]
}

// A cover aggregates how completely hosts are covered.
type cover struct {
	hosts, cut, complete, listed int
	more                         bool // some hosts are not recorded
	deep                         bool // some complete hosts have pages beyond max-depth
	ruled                        bool // some complete hosts have pages excluded by rules
}

// NewFold returns a fold to a level above pages.
func NewFold(s *survey.Survey, level Level) *Fold {
	f := &Fold{
		survey: s, level: level, ids: make(map[string]uint32), nodes: make([]Node, 1), covers: make([]cover, 1),
		kinds: make([]survey.Cover, s.Hosts.Count()+1), seen: make(map[[2]uint32]bool),
		noted: make(map[schema.HostID]schema.HostNote), said: make(map[schema.HostID]saying),
	}
	switch level {
	case LevelHost: // hosts that do not belong to the map keep an empty node
		f.nodeOf(uint32(s.Hosts.Count()), "")
	case LevelEntity:
		f.of = make([]uint32, s.URLs()+1)
		f.last = make([]lastEntity, s.Hosts.Count()+1)
	case LevelSite:
		f.of = make([]uint32, s.Hosts.Count()+1)
	}
	return f
}

// Survey returns the survey that is folded.
func (f *Fold) Survey() *survey.Survey { return f.survey }

// AddHost adds a host.
func (f *Fold) AddHost(r *survey.HostReport) {
	f.kinds[r.Host.ID] = r.Cover
	if r.Noted.Note != "" || len(r.Noted.Tags) > 0 {
		f.noted[r.Host.ID] = r.Noted
	}
	said := saying{r.Host.Preferences, r.MissingPages, r.Parked, r.Wall}
	if said != (saying{}) {
		f.said[r.Host.ID] = said
	}
	switch f.level {
	case LevelHost:
		n := f.nodeOf(uint32(r.Host.ID), r.Host.Name)
		n.Title, n.Class, n.State, n.Cover, n.Hosts = r.Title, r.Class, r.Coverage, r.Cover.String(), 1
		n.Host, n.Site, n.Walled = r.Host.Name, r.Site, r.WalledPages
		f.note(n, r.Host.ID)
		n.say(said)
	case LevelSite:
		id := f.named(r.Site)
		f.of[r.Host.ID] = id
		n := &f.nodes[id]
		n.Host, n.Site = r.Site, r.Site
		n.Hosts++
		n.Walled += r.WalledPages
		n.add(r.Class)
		f.note(n, r.Host.ID)
		n.say(said)
		if r.Title != "" && (r.Host.Name == r.Site || n.Title == "") {
			n.Title = r.Title
		}
		f.covers[id].add(r.Cover)
		f.covers[id].more, n.Overflow = r.SiteOverflow > 0, r.SiteOverflow
	}
}

// note adds the notes on a host to its node.
func (f *Fold) note(n *Node, host schema.HostID) {
	noted, ok := f.noted[host]
	if !ok {
		return
	}
	tags := append(strings.FieldsFunc(n.Tags, func(r rune) bool { return r == ',' }), noted.Tags...)
	slices.Sort(tags)
	n.Tags = strings.Join(slices.Compact(tags), ",")
	if n.Note == "" || noted.Note == "" {
		n.Note += noted.Note
	} else {
		n.Note += "; " + noted.Note
	}
}

// say adds what one more host says. The first of the strictest preferences counts, the manner of answering that tells
// least, and the first rules by which hosts are for sale or show walls.
func (n *Node) say(said saying) {
	if preference.StanceOf(said.use) > preference.StanceOf(n.Said) {
		n.Said = said.use
	}
	manners := []string{"", missing.Honest.String(), missing.Unknown.String(), missing.Soft.String()}
	if slices.Index(manners, said.missing) > slices.Index(manners, n.Missing) {
		n.Missing = said.missing
	}
	n.Parked, n.Wall = cmp.Or(n.Parked, said.parked), cmp.Or(n.Wall, said.wall)
}

// AddPage adds a page. A page that is not selected only gets its node. Entities need the title from the
// page's visit.
func (f *Fold) AddPage(p *survey.Page, selected bool) {
	var n *Node
	switch f.level {
	case LevelHost:
		n = &f.nodes[p.Host]
	case LevelSite:
		n = &f.nodes[f.of[p.Host]]
	default:
		n = f.addToEntity(p)
	}
	if !selected {
		return
	}
	if n.Pages++; n.Pages == 1 {
		n.First, n.Last = p.FirstRun, p.LastRun
	}
	n.Depth = min(n.Depth, p.Depth)
	n.First, n.Last = min(n.First, p.FirstRun), max(n.Last, p.LastRun)
	if p.Visited && p.Class.Visitable() {
		n.Visited++
	}
}

// addToEntity returns the entity of a page, and updates it with the page's host.
func (f *Fold) addToEntity(p *survey.Page) *Node {
	last := &f.last[p.Host]
	again := last.id != 0 && last.name == p.Entity
	if !again {
		*last = lastEntity{p.Entity, f.named(p.Entity)}
	}
	id := last.id
	f.of[p.ID] = id
	n := &f.nodes[id]
	n.add(p.Class)
	n.Host, n.Site = p.HostName, p.Site
	if p.VisitedNow() && p.Visit != nil && p.Visit.Answer == schema.AnswerChallenge {
		n.Walled++
	}
	if p.Visit != nil && strings.TrimSuffix(p.URL, "/") == "https://"+p.Entity {
		n.Title = p.Visit.Title
	}
	if again || f.seen[[2]uint32{id, uint32(p.Host)}] {
		return n
	}
	f.seen[[2]uint32{id, uint32(p.Host)}] = true
	n.Hosts++
	f.note(n, p.Host)
	n.say(f.said[p.Host])
	f.covers[id].add(f.kinds[p.Host])
	return n
}

// Node returns the id of the node that a page belongs to.
func (f *Fold) Node(page schema.ID) uint32 {
	switch f.level {
	case LevelHost:
		return uint32(f.survey.Hosts.Of(page))
	case LevelSite:
		return f.of[f.survey.Hosts.Of(page)]
	}
	return f.of[page]
}

// NodeOfHost returns the id of the node that a host belongs to, at host and site level.
func (f *Fold) NodeOfHost(id schema.HostID) uint32 {
	if f.level == LevelSite {
		return f.of[id]
	}
	return uint32(id)
}

// Nodes returns all nodes by id, including those without selected pages. They belong to the fold, which
// must not be added to afterwards.
func (f *Fold) Nodes() []Node {
	f.seen = nil
	for id := range f.nodes {
		if f.level != LevelHost {
			f.nodes[id].State, f.nodes[id].Cover = f.covers[id].String(), f.covers[id].word()
		}
	}
	return f.nodes[1:]
}

func (f *Fold) named(name string) uint32 {
	id, ok := f.ids[name]
	if !ok {
		id = uint32(len(f.nodes))
		f.ids[name] = id
		f.nodeOf(id, name)
	}
	return id
}

// nodeOf names the node with an id. It creates that node and those before it if they do not exist yet.
func (f *Fold) nodeOf(id uint32, name string) *Node {
	for int(id) >= len(f.nodes) {
		f.nodes = append(f.nodes, Node{ID: uint32(len(f.nodes)), Depth: kv.NoDepth, Class: schema.ClassBlacklisted})
		f.covers = append(f.covers, cover{})
	}
	f.nodes[id].Name = name
	return &f.nodes[id]
}

// add applies the class of a page: a node has the best class of its pages.
func (n *Node) add(c schema.Class) {
	if better(c, n.Class) {
		n.Class = c
	}
}

func (c *cover) add(of survey.Cover) {
	c.hosts++
	switch {
	case of.Cut():
		c.cut++
	case of == survey.CoverComplete, of == survey.CoverByRule, of == survey.CoverToDepth:
		c.complete++
		c.ruled = c.ruled || of == survey.CoverByRule
		c.deep = c.deep || of == survey.CoverToDepth
	case of == survey.CoverListed:
		c.listed++
	}
}

func (c cover) String() string {
	switch {
	case c.cut > 0:
		return partial(c.cut)
	case c.more:
		return "partial: further hosts are not recorded"
	}
	return c.word()
}

// word returns the coverage without the number of cut hosts.
func (c cover) word() string {
	switch {
	case c.cut > 0 || c.more:
		return "partial"
	case c.deep:
		return survey.CoverToDepth.String()
	case c.ruled:
		return survey.CoverByRule.String()
	case c.complete > 0:
		return "complete"
	case c.listed == c.hosts:
		return "listed"
	}
	return "not visited"
}

// partial returns the coverage, with the number of cut hosts.
func partial(hosts int) string {
	if hosts == 1 {
		return "partial: 1 host cut"
	}
	return fmt.Sprintf("partial: %d hosts cut", hosts)
}
