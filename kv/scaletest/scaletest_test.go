package scaletest_test

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestMake makes a small file, which must be as consistent as that of a crawl and contain what the
// large ones are made for.
func TestMake(t *testing.T) {
	size := scaletest.Small()
	s := surveyOf(t, size)
	if err := survey.Check(s, fails(t)); err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	within(t, "pages", counts.Pages, size.Pages)
	within(t, "links", counts.Links, size.Links)
	within(t, "hosts", counts.Hosts+counts.Listed, size.Hosts)
	within(t, "processed pages", counts.Processed, size.Pages*80/100)
	for state, n := range counts.ByState {
		switch state := schema.State(state); state {
		case schema.Discovered, schema.Queued, schema.Fetching, schema.RateLimited, schema.Foreign:
		default:
			if n == 0 {
				t.Errorf("no page is %s", state)
			}
		}
	}
	own := 0
	if err := s.EachPage(func(p *survey.Page) error {
		if p.Own {
			own++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if others := counts.Pages - own; own < others || others == 0 {
		t.Errorf("%d pages are their hosts' own, %d are not", own, others)
	}
}

// TestMakeAgain makes one size twice: the maps are the same.
func TestMakeAgain(t *testing.T) {
	size := scaletest.Size{Pages: 2000, Links: 9000, Hosts: 20}
	first, err := survey.Digest(surveyOf(t, size))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := survey.Digest(surveyOf(t, size)); err != nil || again != first {
		t.Errorf("%v; the digests are %x and %x", err, first, again)
	}
}

// fails returns a report function that fails a test for each problem.
func fails(t *testing.T) func(string) {
	return func(problem string) { t.Error(problem) }
}

// TestMakeTwoRuns makes a terrain that was walked twice: the file is as consistent as that of a
// crawl, and in the second run pages were added, removed and changed, while most were not.
func TestMakeTwoRuns(t *testing.T) {
	size := scaletest.Size{Pages: 5000, Links: 30_000, Hosts: 40, Runs: 2}
	s := surveyOf(t, size)
	if err := survey.Check(s, fails(t)); err != nil {
		t.Fatal(err)
	}
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := d.Sum()
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{"came": sum.Came, "went": sum.Went, "changed": sum.Changed,
		"links came": sum.LinksCame, "links went": sum.LinksWent} {
		if n == 0 || n > size.Pages/2 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// TestMakeVisited makes a terrain in which most pages were not visited.
func TestMakeVisited(t *testing.T) {
	size := scaletest.Size{Pages: 20_000, Visited: 5_800, Links: 104_000, Hosts: 100, Runs: 2}
	s := surveyOf(t, size)
	if err := survey.Check(s, fails(t)); err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	within(t, "pages", counts.Pages, size.Pages)
	within(t, "links", counts.Links, size.Links)
	within(t, "processed pages", counts.Processed, size.Visited*90/100)
}

// surveyOf makes a file of a size and checks it.
func surveyOf(t *testing.T, size scaletest.Size) *survey.Survey {
	t.Helper()
	path := scaletest.Made(t, size)
	if err := kv.Check(path, func(problem string) { t.Error(problem) }); err != nil {
		t.Fatal(err)
	}
	s, err := survey.New(scaletest.Open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// within checks that a number is within a tenth of the expected one.
func within(t *testing.T, what string, got, want int) {
	t.Helper()
	t.Logf("%d %s", got, what)
	if got < want*9/10 || got > want*11/10 {
		t.Errorf("%d %s, want about %d", got, what, want)
	}
}

// TestFiles makes the files of all sizes.
func TestFiles(t *testing.T) {
	for _, size := range []scaletest.Size{
		scaletest.Small(), scaletest.Medium(), scaletest.Large(), scaletest.Known(), scaletest.Huge(),
	} {
		info, err := os.Stat(scaletest.File(t, size))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MB", size.Name(), info.Size()>>20)
	}
}
