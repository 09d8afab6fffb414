package record

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// firstForm returns the fetch URL of the page that the host waits with.
func (c *choice) firstForm(h *schema.Host) (string, error) {
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

// forms returns the forms under which a page may be asked: first the one that last
// answered, then the others in byte order; at www. where only that answers.
func (c *choice) forms(id schema.ID, h *schema.Host) ([]string, error) {
	forms, err := c.in.tx.URLs.Forms(id)
	if err != nil {
		return nil, err
	}
	if seq := c.in.store.Latest(id); seq != 0 {
		v, err := c.in.tx.Visits.At(seq)
		if err != nil {
			return nil, err
		}
		if i := slices.Index(forms, v.Form); i > 0 && found(v) {
			forms = slices.Insert(slices.Delete(slices.Clone(forms), i, i+1), 0, v.Form)
		}
	}
	if !h.WWW {
		return forms, nil
	}
	return atWWW(forms, h.Name), nil
}

// found reports whether a visit has found its page, be it of a type that is not accepted.
func found(v *schema.Visit) bool {
	return v.State == schema.Processed || v.State == schema.ContentMismatch
}

// atWWW puts the forms at www. first, with those that were never named so.
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

// isWWW reports whether a form asks a host at its www. name.
func isWWW(form, host string) bool { return weburl.Host(form) == "www."+host }
