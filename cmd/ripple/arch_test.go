package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sumi-ripple/ripple/"

// A sourcePackage is what this test knows about a package: its folder in the module, its comment,
// and its imports outside of tests.
type sourcePackage struct {
	folder  string
	doc     string
	imports map[string]string // path to the file that imports it
}

// The layers: which package may import which, and that every package has a comment.
func TestArchitecture(t *testing.T) {
	packages := readPackages(t, "../..")
	if len(packages) < 10 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for _, p := range packages {
		for _, breach := range breaches(p) {
			t.Errorf("%s: %s", p.folder, breach)
		}
	}
}

// The test detects the breaches that it is for.
func TestBreaches(t *testing.T) {
	tests := []struct {
		name   string
		folder string
		doc    string
		knows  string
		want   string
	}{
		{"schema knows kv", "schema/scope", "d", module + "kv", "schema knows no other part"},
		{"kv knows crawl", "kv/survey", "d", module + "crawl", "kv knows only schema"},
		{"crawl knows export", "crawl", "d", module + "export/sqlite", "crawl and export do not know each other"},
		{"export knows crawl", "export/sqlite", "d", module + "crawl/robots", "crawl and export do not know each other"},
		{"webtest knows schema", "crawl/webtest", "d", module + "schema", "knows nothing of ours"},
		{"webtest knows its prose", "crawl/webtest", "d", module + "crawl/webtest/prose", ""},
		{"robots knows schema", "crawl/robots", "d", module + "schema", "knows nothing of ours"},
		{"bbolt outside kv", "crawl", "d", "go.etcd.io/bbolt", "only kv imports bbolt"},
		{"survey knows bbolt", "kv/survey", "d", "go.etcd.io/bbolt", "only kv imports bbolt"},
		{"a library knows cmd", "export", "d", module + "cmd/ripple", "nobody knows cmd"},
		{"a command knows its parts", "cmd/ripple", "d", module + "cmd/ripple/desk", ""},
		{"term knows statefile", "cmd/ripple/term", "d", module + "cmd/ripple/statefile", "of the rooms of cmd only those below"},
		{"statefile knows term", "cmd/ripple/statefile", "d", module + "cmd/ripple/term", ""},
		{"answer knows show", "cmd/ripple/answer", "d", module + "cmd/ripple/show", "of the rooms of cmd only those below"},
		{"output knows decide", "cmd/ripple/output", "d", module + "cmd/ripple/decide", "of the rooms of cmd only those below"},
		{"decide knows serve", "cmd/ripple/decide", "d", module + "cmd/ripple/serve", "of the rooms of cmd only those below"},
		{"serve knows session", "cmd/ripple/serve", "d", module + "cmd/ripple/session", "of the rooms of cmd only those below"},
		{"session knows demo", "cmd/ripple/session", "d", module + "cmd/ripple/demo", "of the rooms of cmd only those below"},
		{"demo knows the commands", "cmd/ripple/demo", "d", module + "cmd/ripple", "of the rooms of cmd only those below"},
		{"session knows a command", "cmd/ripple/session", "d", module + "cmd/ripple/command", "of the rooms of cmd only those below"},
		{"show knows answer", "cmd/ripple/show", "d", module + "cmd/ripple/answer", ""},
		{"desk knows the commands", "cmd/ripple/desk", "d", module + "cmd/ripple", "of the rooms of cmd only those below"},
		{"no comment", "export", "", "fmt", "has no package comment"},
		{"a drawer", "crawl/util", "d", "fmt", "is named after nothing"},
		{"all is well", "export/sqlite", "d", module + "kv/survey", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &sourcePackage{folder: tt.folder, doc: tt.doc, imports: map[string]string{tt.knows: "x.go"}}
			got := strings.Join(breaches(p), "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("breaches = %q, want %q", got, tt.want)
			}
		})
	}
}

// The comment of package crawl lists every folder directly under crawl and crawl/cluster, and no other.
func TestCrawlListsItsPackages(t *testing.T) {
	var want []string
	for _, under := range []string{"", "cluster/"} {
		entries, err := os.ReadDir(filepath.Join("../../crawl", under))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() && e.Name() != "testdata" {
				want = append(want, under+e.Name())
			}
		}
	}
	doc, err := os.ReadFile("../../crawl/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^//   - ([a-z/]+): `).FindAllStringSubmatch(string(doc), -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("crawl/doc.go lists\n%q, and there are\n%q", got, want)
	}
}

// breaches names the rules that a package breaks.
func breaches(p *sourcePackage) []string {
	var found []string
	if p.doc == "" {
		found = append(found, "has no package comment")
	}
	drawers := []string{"util", "utils", "common", "helpers", "helper", "models", "types", "manager", "misc", "shared"}
	if slices.Contains(drawers, path.Base(p.folder)) {
		found = append(found, "is named after nothing: a package is one idea")
	}
	for imported, file := range p.imports {
		if rule := forbids(p.folder, imported); rule != "" {
			found = append(found, file+" imports "+imported+": "+rule)
		}
	}
	slices.Sort(found)
	return found
}

// forbids returns the rule that an import breaks; empty: none.
func forbids(folder, imported string) string {
	if strings.HasPrefix(imported, "go.etcd.io/bbolt") && folder != "kv" {
		return "only kv imports bbolt"
	}
	target, ours := strings.CutPrefix(imported, module)
	if !ours {
		return ""
	}
	layer, _, _ := strings.Cut(folder, "/")
	knows, _, _ := strings.Cut(target, "/")
	alone := []string{"crawl/webtest", "crawl/robots"}
	switch {
	case layer == "cmd" && knows == "cmd" && room(folder) >= 0 && room(target) > room(folder):
		return "it knows of the rooms of cmd only those below it"
	case slices.Contains(alone, folder) && !strings.HasPrefix(target, folder+"/"):
		return "it knows nothing of ours"
	case knows == "cmd" && layer != "cmd":
		return "nobody knows cmd"
	case layer == "schema" && knows != "schema":
		return "schema knows no other part"
	case layer == "kv" && knows != "kv" && knows != "schema":
		return "kv knows only schema"
	case layer == "crawl" && knows == "export", layer == "export" && knows == "crawl":
		return "crawl and export do not know each other"
	}
	return ""
}

// rooms are the parts of the command from bottom to top: each imports only those before it.
func rooms() []string {
	return []string{
		"cmd/ripple/docs", "cmd/ripple/term", "cmd/ripple/statefile", "cmd/ripple/seeds", "cmd/ripple/desk",
		"cmd/ripple/answer", "cmd/ripple/show", "cmd/ripple/output", "cmd/ripple/decide", "cmd/ripple/serve",
		"cmd/ripple/session", "cmd/ripple/demo", "cmd/ripple/command", "cmd/ripple",
	}
}

// room returns the index of a folder among the rooms; -1: it is not one.
func room(folder string) int {
	return slices.IndexFunc(rooms(), func(r string) bool { return folder == r })
}

// readPackages reads the imports and comments of all packages below a folder.
func readPackages(t *testing.T, root string) []*sourcePackage {
	t.Helper()
	found := map[string]*sourcePackage{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root &&
			(name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		p := found[folder]
		if p == nil {
			p = &sourcePackage{folder: folder, imports: map[string]string{}}
			found[folder] = p
		}
		return p.read(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	var packages []*sourcePackage
	for _, p := range found {
		packages = append(packages, p)
	}
	return packages
}

func (p *sourcePackage) read(file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	p.addDoc(f)
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		p.imports[imported] = filepath.Base(file)
	}
	return nil
}

func (p *sourcePackage) addDoc(f *ast.File) {
	if f.Doc != nil && p.doc == "" {
		p.doc = f.Doc.Text()
	}
}
