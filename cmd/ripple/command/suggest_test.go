package command

import (
	"os"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// Two sites name each other with rel=me: they are suggested as one entity, which the pasted block makes of them.
func TestSuggestOwners(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("ann.test").Page("/", `<a rel=me href="https://ann.example/">elsewhere</a> <a href="https://ben.test/">Ben</a>`)
	s.Host("ann.example").Page("/", `<a rel=me href="https://ann.test/">home</a>`)
	s.Host("ben.test").Page("/", `<a rel=me href="https://ann.test/">not me</a>`)
	config, _ := crawltest.Files(t, s, "[network]\nconnect-to = { \"*.test\" = \""+s.Addr()+"\", \"*.example\" = \""+s.Addr()+
		"\" }\n[[quality]]\ndomain = \"ann.test\"\nseeds = [\"https://ann.test/\"]\n")
	if _, complaints, err := ran(t, "crawl", config, "-q"); err != nil {
		t.Fatal(complaints)
	}
	block := "[[entity]]\ndomain = \"ann.test\"\nby = \"host\"\nwith = [\"ann.example\"]\n"
	want := "# ann.test, ann.example: one owner, by their own pages, which name each other with rel=me\n" +
		"#   https://ann.example/ -> https://ann.test/\n#   https://ann.test/ -> https://ann.example/\n" + block
	out, complaints, err := ran(t, "suggest", "--config", config)
	if err != nil || !strings.HasSuffix(out, want+"\n") || strings.Count(out, "[[entity]]") != 1 {
		t.Fatalf("%s%s\nwant at the end\n%s", out, complaints, want)
	}
	out, _, _ = ran(t, "suggest", "--config", config, "--json")
	if !strings.Contains(out, `"from_url": "https://ann.example/"`) || !strings.Contains(out, `\"ann.example\"]"`) {
		t.Errorf("as JSON: %s", out)
	}
	file, err := os.OpenFile(config, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(block); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, complaints, err := ran(t, "reclassify", config); err != nil {
		t.Fatal(complaints)
	}
	if out, _, _ := ran(t, "suggest", "--config", config); strings.Contains(out, "[[entity]]") {
		t.Errorf("it is suggested again:\n%s", out)
	}
	out, complaints, _ = ran(t, "query", "--config", config, "SELECT entity, hosts FROM entities ORDER BY entity")
	if got := strings.Join(strings.Fields(out), " "); got != "entity hosts ann.test 2 ben.test 1" {
		t.Errorf("entities: %s%s", out, complaints)
	}
}

// ran runs a command in this process and returns its output.
func ran(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, complaints strings.Builder
	err = New(&out, &complaints).Run(t.Context(), args)
	return out.String(), complaints.String(), err
}
