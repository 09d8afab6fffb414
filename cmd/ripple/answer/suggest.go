package answer

import (
	"strings"

	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// The Suggestions as programs read them.
type (
	Suggestions struct {
		Origins    int         `json:"origins"`
		Discovered []candidate `json:"discovered"`
		Stubs      []candidate `json:"stubs"`
		Owners     []owner     `json:"owners"` // whose hosts could be one entity
	}
	owner struct {
		Hosts []string `json:"hosts"` // of different sites
		Links []meLink `json:"links"` // by which the hosts say so, in both directions
		Block string   `json:"block"`
	}
	meLink struct {
		From string `json:"from_url"`
		To   string `json:"to_url"`
	}
	candidate struct {
		Entity   string         `json:"entity"`
		Domain   *string        `json:"domain"`                 // null: not a single host
		Shown    string         `json:"entity_shown,omitempty"` // the name as people see it, if it differs from the entity
		Site     string         `json:"site"`                   // registrable domain
		Title    *string        `json:"title"`
		Class    string         `json:"class"`
		Hosts    int            `json:"hosts"`
		Pages    int            `json:"pages"`
		Origins  int            `json:"origins"`
		Links    int            `json:"links"`
		Trust    float64        `json:"trust"`
		From     []citingOrigin `json:"linked_from"`
		Coverage string         `json:"coverage"`
		Missing  int            `json:"known_missing"`
		Answers  string         `json:"answering_url"` // a page that answered; empty: none
		Block    string         `json:"block,omitempty"`
	}
	citingOrigin struct {
		Origin    string `json:"quality_origin"`
		Editorial int    `json:"editorial"`
		Elsewhere int    `json:"elsewhere"`
		SiteWide  int    `json:"sitewide"`
		From      string `json:"from_url"`
		To        string `json:"to_url"`
		Anchor    string `json:"anchor"`
		Place     string `json:"place"`
	}
)

// NewSuggestions converts suggestions to the form for programs.
func NewSuggestions(found *suggest.Suggestions) Suggestions {
	all := Suggestions{Origins: found.Origins, Discovered: newCandidates(found.Discovered),
		Stubs: newCandidates(found.Stubs), Owners: []owner{}}
	for i := range found.Owners {
		o := &found.Owners[i]
		one := owner{Hosts: o.Hosts, Block: strings.TrimSpace(o.Block())}
		for _, l := range o.Links {
			one.Links = append(one.Links, meLink(l))
		}
		all.Owners = append(all.Owners, one)
	}
	return all
}

func newCandidates(all []suggest.Candidate) []candidate {
	list := []candidate{}
	for i := range all {
		c := &all[i]
		one := candidate{
			Entity: c.Name, Shown: weburl.ShownIfOther(c.Name),
			Site: siteOf(c.Name), Class: c.Class.String(), Hosts: c.Hosts, Pages: c.Pages, Origins: c.Votes, Links: c.Links,
			Trust: c.Trust,
			From:  []citingOrigin{}, Coverage: c.Coverage, Missing: c.Missing,
			Answers: c.Answers,
		}
		if host := c.Host(); host != "" {
			one.Domain = &host
		}
		if c.Title != "" {
			one.Title = &c.Title
		}
		if c.Class.Visitable() {
			one.Block = strings.TrimSpace(c.Block())
		}
		for _, o := range c.Origin {
			one.From = append(one.From, citingOrigin{
				o.Name, o.Editorial, o.Elsewhere, o.SiteWide, o.From, o.To, o.Anchor, o.Place,
			})
		}
		list = append(list, one)
	}
	return list
}

// siteOf returns the registrable domain of an entity, which may be a part of a host.
func siteOf(entity string) string {
	host, _, _ := strings.Cut(entity, "/")
	return weburl.Site(host)
}
