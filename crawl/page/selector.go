package page

import (
	"maps"
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A selector is a group of paths. Each step of a path is evaluated once for the whole tree. A [cascadia.Sel]
// of several steps would look back from every node over all nodes above or before it, from each of these
// again, and so on: a small page can keep it busy for days.
type selector struct {
	paths  [][]step
	around bool // a step may look at all nodes next to, above or below a node, such as :nth-child(odd) and :has(p)
}

// maxAround limits the cost of that over all nodes of a tree; some 20,000 children of one element reach it.
const maxAround = 400_000_000

// A step is an element of a path, and its relation to the previous step.
type step struct {
	is cascadia.Sel
	by byte // a combinator; 0: anywhere, for the first step
}

// nodes is a set of nodes.
type nodes map[*html.Node]bool

// parseSelector parses a group of CSS selectors.
func parseSelector(s string) (selector, error) {
	group := selector{around: looksAround(s)}
	if _, err := cascadia.ParseGroup(s); err != nil {
		return group, err
	}
	for i := 0; i < len(s); i++ {
		if s[i] != ',' || !isGroup(s[i+1:]) {
			continue
		}
		if first := stepsOf(s[:i]); first != nil {
			group.paths, s, i = append(group.paths, first), s[i+1:], -1
		}
	}
	group.paths = append(group.paths, stepsOf(s))
	return group, nil
}

// looksAround reports whether a step may look at more than its node and its attributes: :not(.x) does not,
// :not(p .x) does.
func looksAround(s string) bool {
	around := regexp.MustCompile(`(?i):(nth-|\w+-of-type|has\(|contains\(|matches\(|not\([^)]*[\s>+~])`)
	return around.MatchString(s) || hasNumber(s)
}

func isGroup(s string) bool {
	_, err := cascadia.ParseGroup(s)
	return err == nil
}

// stepsOf splits a CSS selector into steps; nil: it is invalid. A selector with an escape that may end with a
// space is one step.
func stepsOf(s string) []step {
	whole, err := cascadia.Parse(s)
	if err != nil {
		return nil
	}
	for i := len(s) - 1; i > 0 && !hasNumber(s); i-- {
		by := s[i]
		if strings.IndexByte(" \t\r\n\f", by) >= 0 {
			by = ' '
		} else if strings.IndexByte(">+~", by) < 0 {
			continue
		}
		if last, err := cascadia.Parse(s[i+1:]); err == nil {
			if first := stepsOf(s[:i]); first != nil {
				return append(first, step{last, by})
			}
		}
	}
	return []step{{whole, 0}}
}

// hasNumber reports a numeric escape, such as "\32 ".
func hasNumber(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1] == '\\' && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0 {
			return true
		}
	}
	return false
}

// find returns the matching nodes below the root; none, if that would take too long.
func (s selector) find(root *html.Node) nodes {
	if s.around && aroundAll(root, 0) > maxAround {
		return nil
	}
	all := nodes{}
	for _, path := range s.paths {
		var before, found nodes
		for _, st := range path {
			found = nodes{}
			if st.by == 0 && st.is.Match(root) {
				found[root] = true
			}
			st.find(root, before, found, false)
			before = found
		}
		maps.Copy(all, found)
	}
	return all
}

// find adds the matching nodes below a node, given those of the previous step; under reports that one of them
// is above.
func (st *step) find(above *html.Node, before, found nodes, under bool) {
	under = under || before[above]
	next, behind := false, false // one of them is the previous element, or any earlier sibling
	for n := range above.ChildNodes() {
		near := false
		switch st.by {
		case 0:
			near = true
		case ' ':
			near = under
		case '>':
			near = before[above]
		case '+':
			near = next
		case '~':
			near = behind
		}
		if near && st.is.Match(n) {
			found[n] = true
		}
		st.find(n, before, found, under)
		if behind = behind || before[n]; n.Type != html.TextNode && n.Type != html.CommentNode {
			next = before[n]
		}
	}
}

// aroundAll returns the cost of looking from each node at those next to, above and below it.
func aroundAll(n *html.Node, depth int) int {
	cost, children := depth*depth, 0
	for c := range n.ChildNodes() {
		cost += aroundAll(c, depth+1)
		children++
	}
	return cost + children*children
}

// dropComments removes the comments from a tree, and joins the texts around them. No selector finds them, but
// one like :first-child skips all those before an element.
func dropComments(n *html.Node) {
	for c := n.FirstChild; c != nil && c.Type == html.CommentNode; c = n.FirstChild {
		n.RemoveChild(c)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		var more strings.Builder
		for next := c.NextSibling; next != nil; next = c.NextSibling {
			joins := c.Type == html.TextNode && next.Type == html.TextNode
			if !joins && next.Type != html.CommentNode {
				break
			}
			if joins {
				more.WriteString(next.Data)
			}
			n.RemoveChild(next)
		}
		c.Data += more.String()
		dropComments(c)
	}
}
