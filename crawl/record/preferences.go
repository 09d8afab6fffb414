package record

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// permit adds to what a page says about its use what robots.txt says about it. That is the copy that holds when the
// page is fetched, or found unmodified: a later one does not apply to it.
func (d *visitBuilder) permit(o *ring.Outcome, visit *schema.Visit) error {
	if d.in.imports != nil { // what robots.txt said at that time is not known
		return nil
	}
	if o.Page == nil && visit.Stand == 0 || visit.State != schema.Processed || !d.in.isPage(visit.URL) {
		return nil
	}
	h, err := d.robots.hosts.load(d.in.store.HostOf(visit.URL))
	if err != nil {
		return err
	}
	rules, err := d.robots.ofVisit(h)
	if err != nil {
		return err
	}
	var said []preference.Statement
	if rules != nil {
		said = Statements(rules.Applying(weburl.PathQuery(visit.Form)))
	}
	visit.Preferences = preferencesOf(visit.Preferences, said)
	return nil
}

// preferencesOf returns what a page and its robots.txt say about its use; what page has of an earlier robots.txt no
// longer counts. Licences come last, because they may be long.
func preferencesOf(page string, robots []preference.Statement) string {
	if page == "" && len(robots) == 0 {
		return ""
	}
	own := slices.DeleteFunc(preference.Parse(page), func(s preference.Statement) bool {
		return s.Source == preference.Robots
	})
	all := append(own, robots...)
	slices.SortStableFunc(all, func(a, b preference.Statement) int { return cmp.Compare(a.Field, b.Field) })
	return preference.Text(all...)
}

// Statements returns lines of a robots.txt as statements.
func Statements(lines []robots.Statement) (all []preference.Statement) {
	for _, l := range lines {
		if field, ok := preference.FieldOf(l.Field); ok {
			all = append(all, preference.Statement{Field: field, Path: l.Path, Value: l.Value})
		}
	}
	return all
}
