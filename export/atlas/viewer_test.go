package atlas

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// Another page gets the whole viewer, which starts nothing by itself.
func TestViewer(t *testing.T) {
	v, err := NewViewer()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(v.Module, "export { show, renew, restyle, leave };\n") ||
		strings.Contains(v.Module, "getElementById(\"graph\")") {
		t.Error("the module does not leave the start to its page")
	}
	for _, id := range []string{"stage", "labels", "head", "query", "results", "legend", "groups", "panel", "tip"} {
		if strings.Count(string(v.Stage), ` id="`+id+`"`) != 1 {
			t.Errorf("the stage has no %q", id)
		}
	}
	if strings.Contains(string(v.Stage), "<h1>") || !strings.Contains(v.Ground, "--accent") ||
		!strings.Contains(v.Style, "#panel") {
		t.Error("the parts are not where they are said to be")
	}
}

// The viewer receives the contents of a file's heading, and at most the requested nodes.
func TestMapJSON(t *testing.T) {
	m := sample(40)
	m.Partial = "partial: 2 hosts cut"
	text, err := m.Foremost(10).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Names                []string
		Counts, Run, Partial string
		LeftOut              string `json:"left_out"`
		X                    string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Names) != 10 || !strings.HasPrefix(got.Counts, "10 hosts") || got.Run != "3" || got.Partial != m.Partial ||
		!strings.HasPrefix(got.LeftOut, "left out: 30 hosts") || len(got.X) != base64.StdEncoding.EncodedLen(4*10) {
		t.Errorf("JSON = %+v", got)
	}
	m.Points = nil
	if _, err := m.JSON(); err == nil {
		t.Error("a map without places has a JSON")
	}
}
