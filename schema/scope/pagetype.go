package scope

import "regexp"

// A PageType names pages and limits how many of a group a run visits ([[page-type]]).
type PageType struct {
	Name        string
	Pattern     Pattern        // zero: every host
	Path        *regexp.Regexp // on path?query; nil: every page. A group named "group" gives the group
	MaxPerGroup int            // 0: no cap
}

type pageType struct {
	PageType
	group int // index of the named group in Path; -1 if none
}

func newPageType(p PageType) pageType {
	group := -1
	if p.Path != nil {
		group = p.Path.SubexpIndex("group")
	}
	return pageType{p, group}
}

// PageType returns the first page type that matches a page, with its group and cap. An empty group
// means that the host is the group.
func (s *Scope) PageType(host, pathQuery string) (name, group string, limit int, ok bool) {
	for i := range s.pageTypes {
		p := &s.pageTypes[i]
		if !p.Pattern.IsZero() && !p.Pattern.Match(host) {
			continue
		}
		if group, ok := p.match(pathQuery); ok {
			return p.Name, group, p.MaxPerGroup, true
		}
	}
	return "", "", 0, false
}

func (p *pageType) match(pathQuery string) (group string, ok bool) {
	if p.Path == nil {
		return "", true
	}
	if p.group < 0 {
		return "", p.Path.MatchString(pathQuery)
	}
	m := p.Path.FindStringSubmatchIndex(pathQuery)
	if m == nil {
		return "", false
	}
	if from := m[2*p.group]; from >= 0 {
		group = pathQuery[from:m[2*p.group+1]]
	}
	return group, true
}
