package record

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// firstForm returns the fetch URL of the page that the host waits with.
func (c *pageChooser) firstForm(h *schema.Host) (string, error) {
	var first schema.ID
	if len(h.Retries) > 0 {
		first = h.Retries[0].URL
	}
	if err := c.in.tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool { first = id; return false }); err != nil {
		return "", err
	}
	if first == 0 {
		return "https://" + h.Name + "/", nil
	}
	forms, err := c.forms(first, h)
	if err != nil {
		return "", err
	}
	return forms[0], nil
}

// forms returns the forms of a page in the order in which they are tried: first the one that
// answered last, then the others; with www. if the host answers only there.
func (c *pageChooser) forms(id schema.ID, h *schema.Host) ([]string, error) {
	known, err := c.in.tx.URLs.Forms(id)
	if err != nil {
		return nil, err
	}
	forms := known.All()
	if forms, err = c.afterLast(id, forms, &known); err != nil {
		return nil, err
	}
	if !h.WWW {
		return forms, nil
	}
	return atWWW(forms, h.Name), nil
}

// afterLast reorders forms by the last visit. The form at which it found the page comes first; a
// form with another answer than that nothing is there, or without one, comes last. A foreign form
// at which the page was found stays in its place once the page has a form of its own that this
// visit did not know.
func (c *pageChooser) afterLast(id schema.ID, forms []string, known *schema.Forms) ([]string, error) {
	seq := c.in.latest(id)
	if seq == 0 {
		return forms, nil
	}
	v, err := c.in.tx.Visits.At(seq)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(forms), func(form string) bool { return form == v.Form })
	switch {
	case v.Found() && (known.IsOwn(v.Form) || v.Knew.CoversOwn(known.Set())):
		return slices.Insert(others, 0, v.Form), nil
	case v.State == schema.Failed && len(others) < len(forms) && c.in.visited(id):
		return append(others, v.Form), nil
	}
	return forms, nil
}

// atWWW puts the forms with www. first, and adds them for forms that were never named with it.
func atWWW(forms []string, host string) []string {
	all := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		www := "https://www." + strings.TrimPrefix(form, "https://")
		if !isWWW(form, host) && !slices.Contains(forms, www) {
			all = append(all, www)
		} else if isWWW(form, host) {
			all = append(all, form)
		}
	}
	for _, form := range forms {
		if !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	return all
}

// isWWW reports whether a form requests a host at its www. name.
func isWWW(form, host string) bool { return weburl.Host(form) == "www."+host }
