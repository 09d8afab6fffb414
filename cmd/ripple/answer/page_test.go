package answer

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// Redirects are followed as in the state of a page: until they repeat, or lead to a page that is
// now on a list.
func TestRedirects(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[blacklist]]\nurl = '/listed'\n")
	for from, to := range map[string]string{
		"a.test/": "a.test/1", "a.test/1": "a.test/2", "a.test/2": "a.test/1",
		"a.test/x": "a.test/listed", "a.test/listed": "a.test/y", "a.test/y": "a.test/x",
	} {
		w.Visit(from, w.Redirect(to))
	}
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	for name, want := range map[string]string{
		"a.test/":  "https://a.test/1 https://a.test/2 https://a.test/1",
		"a.test/1": "https://a.test/2 https://a.test/1", "a.test/x": "https://a.test/listed",
		"a.test/y": "https://a.test/x https://a.test/listed",
	} {
		p, err := r.Page(w.Page(name))
		if err != nil {
			t.Fatal(err)
		}
		var out KnownPage
		if err := (Inspector{State: r}).AddRedirects(&out, p); err != nil || strings.Join(out.Redirects, " ") != want {
			t.Errorf("%s: %v, %v; want %s", name, out.Redirects, err, want)
		}
	}
}
