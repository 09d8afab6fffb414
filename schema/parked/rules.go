package parked

import "github.com/sumi-ripple/ripple/schema"

// A Place is where a rule looks.
type Place uint8

// The places.
const (
	RedirectHost Place = iota // where the front page redirects: a host, or one below it, in an address with the domain
	Title                     // the whole title of a page without other content; NAME is the domain
)

// String says where that is.
func (p Place) String() string {
	return [...]string{"redirect of the front page", "title of the front page"}[p]
}

// A Rule says how the offer of a domain is recognised.
type Rule struct {
	ID       string // never changes and is never used again
	Date     string // when the rule was added or last changed, as in "2026-11-28"
	Source   string // where the sign can be seen
	Where    Place
	Patterns []string // one of them, in lower case
	Meaning  string
}

// Version names the rules as they are.
func Version() string { return schema.TableVersion(Rules(), func(r Rule) string { return r.Date }) }

// Rules returns all rules, in the order in which they are tried.
func Rules() []Rule {
	market := func(id, source string, hosts ...string) Rule {
		return Rule{ID: id, Date: "2026-11-28", Source: source, Where: RedirectHost, Patterns: hosts,
			Meaning: "the domain is offered on a marketplace"}
	}
	return []Rule{
		market("sedo", "Sedo: parking and sales pages", "sedo.com", "sedoparking.com"),
		market("dan", "Dan.com: sales pages", "dan.com", "undeveloped.com"),
		market("afternic", "Afternic: sales pages", "afternic.com"),
		market("godaddy", "GoDaddy: sales pages", "forsale.godaddy.com", "godaddy.com"),
		market("hugedomains", "HugeDomains: sales pages", "hugedomains.com"),
		market("atom", "Atom: sales pages", "atom.com", "squadhelp.com"),
		market("buydomains", "BuyDomains: sales pages", "buydomains.com"),
		market("domainmarket", "DomainMarket: sales pages", "domainmarket.com"),
		market("brandbucket", "BrandBucket: sales pages", "brandbucket.com"),
		market("bodis", "Bodis: parking pages", "bodis.com"),
		market("parkingcrew", "ParkingCrew: parking pages", "parkingcrew.net"),
		market("above", "Above.com: parking pages", "above.com"),
		{ID: "title", Date: "2026-11-28", Source: "sales pages of registrars", Where: Title, Patterns: []string{
			"NAME for sale", "NAME is for sale", "NAME may be for sale", "NAME - for sale", "NAME is available for purchase",
			"the domain NAME is for sale", "the domain name NAME is for sale", "domain NAME is for sale", "buy NAME",
			"NAME - this domain is for sale", "NAME - domain name for sale", "NAME domain name is for sale",
			"NAME steht zum verkauf", "die domain NAME steht zum verkauf", "NAME est à vendre",
			"le nom de domaine NAME est à vendre", "NAME está en venta", "NAME está à venda", "NAME is te koop",
		}, Meaning: "the page says nothing but that the domain is for sale"},
	}
}
