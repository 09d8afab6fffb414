package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

var update = flag.Bool("update", false, "write the golden files")

// Programs read these answers by their keys. A removed key, or one with a changed type, breaks
// them; a new one is recorded with -update. Values are tested elsewhere.
func TestAnswersKeepTheirKeys(t *testing.T) {
	t.Parallel()
	r := newRevised(t)
	r.crawl()
	r.changed.Store(true)
	r.crawl()
	robots := filepath.Join(r.dir, "robots.txt")
	if err := os.WriteFile(robots, []byte("User-agent: *\nDisallow: /private\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	graph := rippletest.WebGraph(t, r.dir, "test.a")
	var got strings.Builder
	for _, command := range [][]string{
		{"version", "--json"},
		{"stats", "--json"},
		{"inspect", "--json", "https://a.test/"},
		{"inspect", "--json", "https://a.test/dies"},
		{"inspect", "--json", "a.test"},
		{"path", "--json", "https://b.test/"},
		{"broken", "--json"},
		{"suggest", "--json", "--min-origins", "0"},
		{"duplicates", "--json"},
		{"import", "--graph", graph, "--json"},
		{"inlinks", "--json"},
		{"suggest", "--outside", "--json"},
		{"diff", "--json"},
		{"query", "--json", "SELECT url, state, status_code FROM pages ORDER BY url"},
		{"robots", "--json", "https://a.test/private", "--file", robots, "--agent", "SumiRipple"},
		{"decide", "b.test", "quality", "--dry-run", "--json"},
		{"reclassify", "--dry-run", "--json"},
		{"replay", "--json", "--into", filepath.Join(r.dir, "again.bolt")},
		{"prune", "--keep-runs", "1", "--json"},
		{"verify", "--json", "--compact"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], command...)
		if !slices.Contains([]string{"version", "robots"}, command[0]) {
			cmd.Args = append(cmd.Args, "--config", r.config)
		}
		var problems bytes.Buffer
		cmd.Stderr = &problems
		text, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 { // exit code 1 is an answer: there are broken links, or a page is forbidden
			t.Fatalf("ripple %s: %v\n%s", strings.Join(command, " "), err, problems.Bytes())
		}
		fmt.Fprintf(&got, "ripple %s\n%s\n", strings.ReplaceAll(strings.Join(command, " "), r.dir+"/", ""), shape(t, text))
	}
	golden(t, "answers.txt", got.String())
}

// The description of the desk's interface is its promise.
func TestInterfaceKeepsItsKeys(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt"))
	_, text := d.get("openapi.json")
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name string `json:"name"`
				In   string `json:"in"`
			} `json:"parameters"`
			Body      json.RawMessage `json:"requestBody"`
			Responses map[string]struct {
				Content map[string]json.RawMessage `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			o := document.Paths[path][method]
			fmt.Fprintf(&got, "%s %s\n", strings.ToUpper(method), path)
			for _, p := range o.Parameters {
				fmt.Fprintf(&got, "  %s %s\n", p.In, p.Name)
			}
			if o.Body != nil {
				fmt.Fprintf(&got, "  body\n%s", described(t, o.Body))
			}
			for _, content := range o.Responses["200"].Content {
				fmt.Fprintf(&got, "  answer\n%s", described(t, content))
			}
			got.WriteByte('\n')
		}
	}
	golden(t, "openapi.txt", got.String())
}

// golden compares with a file below testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run the test with -update:\n%s", file, diff)
	}
}

// shape returns the keys of JSON values, one line for each with its types, and lists as [].
func shape(t *testing.T, text []byte) string {
	t.Helper()
	types := map[string]map[string]bool{}
	for values := json.NewDecoder(bytes.NewReader(text)); values.More(); {
		var v any
		if err := values.Decode(&v); err != nil {
			t.Fatalf("%v: %.300s", err, text)
		}
		addTypes(types, "", v)
	}
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&lines, "  %s: %s\n", path, strings.Join(slices.Sorted(maps.Keys(types[path])), " or "))
	}
	return lines.String()
}

func addTypes(types map[string]map[string]bool, path string, v any) {
	name := fmt.Sprintf("%T", v)
	switch v := v.(type) {
	case nil:
		name = "null"
	case float64:
		name = "number"
	case map[string]any:
		name = "object"
		for key, of := range v {
			addTypes(types, path+"."+key, of)
		}
	case []any:
		name = "list"
		for _, of := range v {
			addTypes(types, path+"[]", of)
		}
	}
	if types[path] == nil {
		types[path] = map[string]bool{}
	}
	types[path][name] = true
}

// described returns the properties that a JSON Schema (https://json-schema.org/draft/2020-12) within text describes,
// a line for each with its type.
func described(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	types := map[string]map[string]bool{}
	addProperties(types, "", v)
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&lines, "    %s: %s\n", path, strings.Join(slices.Sorted(maps.Keys(types[path])), " or "))
	}
	return lines.String()
}

func addProperties(types map[string]map[string]bool, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, of := range v {
			addProperties(types, path, of)
		}
	case map[string]any:
		if kind := v["type"]; kind != nil && path != "" {
			if types[path] == nil {
				types[path] = map[string]bool{}
			}
			types[path][fmt.Sprint(kind)] = true
		}
		for key, of := range v {
			switch key {
			case "properties":
				for name, property := range of.(map[string]any) {
					addProperties(types, path+"."+name, property)
				}
			case "items":
				addProperties(types, path+"[]", of)
			case "additionalProperties":
				addProperties(types, path+".*", of)
			case "examples", "example", "enum", "default":
			default:
				addProperties(types, path, of)
			}
		}
	}
}
