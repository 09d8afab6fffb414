package answer_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/schema"
)

// A report has the elements and the counts that GitLab and Jenkins read, whatever the pages contain.
func TestWriteJUnit(t *testing.T) {
	gone := &broken.Target{To: "https://b.test/?a=1&b=<\x1b>", State: schema.DeadLink, Status: 404, Why: "404 \"Not Found\""}
	away := &broken.Target{To: "https://away.test/", State: schema.Unreachable, Why: "no such host"}
	var links []broken.Link
	for i := range 4 {
		from := &broken.Source{Origin: "a.test", From: fmt.Sprintf("https://a.test/%d", i)}
		links = append(links, broken.Link{Source: from, Target: gone, Link: schema.Link{Anchor: "]]>\x00 here"}})
	}
	links = append(links, broken.Link{Source: links[0].Source, Target: away})
	wall := &broken.Target{To: "https://wall.test/", State: schema.Failed, Answer: schema.AnswerChallenge, Why: "walled"}
	walled := broken.ByTarget([]broken.Link{{Source: links[0].Source, Target: wall}})
	for _, tt := range []struct {
		groups, walled  []broken.Group
		tests, failures int
	}{{broken.ByTarget(links), nil, 2, 2}, {nil, nil, 1, 0}, {nil, walled, 2, 0}, {broken.ByTarget(links), walled, 3, 2}} {
		var out bytes.Buffer
		if err := answer.WriteJUnit(&out, tt.groups, tt.walled, 3); err != nil {
			t.Fatal(err)
		}
		var got struct {
			XMLName         xml.Name `xml:"testsuites"`
			Tests, Failures int      `xml:"-"`
			Suites          []struct {
				Name     string `xml:"name,attr"`
				Tests    int    `xml:"tests,attr"`
				Failures int    `xml:"failures,attr"`
				Cases    []struct {
					Class   string `xml:"classname,attr"`
					Name    string `xml:"name,attr"`
					Failure *struct {
						Message string `xml:"message,attr"`
						Type    string `xml:"type,attr"`
						Text    string `xml:",chardata"`
					} `xml:"failure"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		s := got.Suites[0]
		if len(got.Suites) != 1 || s.Tests != tt.tests || s.Failures != tt.failures || len(s.Cases) != tt.tests {
			t.Errorf("%d suites, %d tests, %d failures, %d cases in\n%s", len(got.Suites), s.Tests, s.Failures, len(s.Cases),
				out.String())
		}
		if tt.failures == 0 {
			if s.Cases[0].Failure != nil {
				t.Error("a test failed though no link is broken")
			}
			continue
		}
		first := s.Cases[0]
		if first.Name == "" || first.Class != "links.dead_link" || first.Failure.Type != "dead_link" ||
			first.Failure.Message != "404 \"Not Found\"; 4 pages link here" ||
			!strings.Contains(first.Failure.Text, "https://a.test/2") || !strings.HasSuffix(first.Failure.Text, "and 1 more page\n") {
			t.Errorf("the first case is %+v, %+v", first, first.Failure)
		}
	}
}
