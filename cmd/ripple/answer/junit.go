package answer

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/broken"
)

// The elements of a JUnit report as GitLab and Jenkins read it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Skipped *junitSkipped `xml:"skipped"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes broken targets as a JUnit report: a failed test for each, with at most limit of the pages that
// link to it, and a skipped one for each walled target. Without a broken target one test has passed, because CI systems
// reject a report without tests.
func WriteJUnit(w io.Writer, groups, walled []broken.Group, limit int) error {
	suite := junitSuite{
		Name: "links", Tests: max(1, len(groups)) + len(walled), Failures: len(groups), Skipped: len(walled),
	}
	why := func(g broken.Group) string {
		return fmt.Sprintf("%s; %s here", term.Clean(g.Why, 300), term.Count(len(g.Links), "page links", "pages link"))
	}
	for _, g := range groups {
		suite.Cases = append(suite.Cases, junitCase{Class: "links." + g.Class(), Name: term.Clean(g.To, 2048),
			Failure: &junitFailure{Message: why(g), Type: g.Class(), Text: sources(g, limit)}})
	}
	if len(groups) == 0 {
		suite.Cases = []junitCase{{Class: "links", Name: "no broken links"}}
	}
	for _, g := range walled {
		suite.Cases = append(suite.Cases, junitCase{Class: "links." + g.Answer.String(), Name: term.Clean(g.To, 2048),
			Skipped: &junitSkipped{why(g)}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	err := e.Encode(junitSuites{Name: "ripple", Tests: suite.Tests, Failures: suite.Failures, Suites: []junitSuite{suite}})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// sources lists the pages that link to a broken target, one on a line, with the text of the link, after its capture.
func sources(g broken.Group, limit int) string {
	var b strings.Builder
	if c := g.Capture; c != nil {
		fmt.Fprintf(&b, "\narchived %s: %s", c.At.Format(time.RFC3339), term.Clean(c.URL, 2048))
	}
	for i := range g.Links[:min(limit, len(g.Links))] {
		l := &g.Links[i]
		b.WriteString("\n" + term.Clean(l.From, 2048))
		if l.Link.Anchor != "" {
			fmt.Fprintf(&b, " %q", term.Clean(l.Link.Anchor, 120))
		}
	}
	if more := len(g.Links) - limit; more > 0 {
		b.WriteString("\nand " + term.Count(more, "more page", "more pages"))
	}
	return b.String() + "\n"
}
