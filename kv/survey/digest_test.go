package survey_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// digestWorld makes one small map, with its pages met and visited in random order. change may alter
// a visit.
func digestWorld(t *testing.T, r *rand.Rand, change func(page string, v *schema.Visit)) string {
	t.Helper()
	w := surveytest.New(t, minimal)
	var pages []string
	for i := range 12 {
		pages = append(pages, fmt.Sprintf("a.test/%c", 'a'+i), fmt.Sprintf("b.test/%c", 'a'+i))
	}
	order := r.Perm(len(pages))
	for _, i := range r.Perm(len(pages)) {
		w.Page(pages[i])
	}
	for _, i := range order {
		page := pages[i]
		depth := uint8(0)
		if page[0] == 'b' {
			depth = 1
		}
		w.Depth(page, depth, 0)
		w.Visit(page, func(v *schema.Visit) {
			v.SHA256[0] = byte(i)
			for n := range 5 {
				to := w.Page(pages[(i*7+n*3+1)%len(pages)])
				v.Links = append(v.Links, schema.Link{To: to, Kinds: surveytest.Kinds(schema.LinkAnchor),
					Anchor: fmt.Sprint("to ", n)})
			}
			if change != nil {
				change(page, v)
			}
			slices.SortFunc(v.Links, func(a, b schema.Link) int { return int(a.To) - int(b.To) })
			v.ResponseTime, v.Requests = 5, 1+r.IntN(3)
		})
	}
	digest, err := survey.Digest(w.Survey())
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestDigest makes one map in many orders, which has one digest, and changes one thing at a time,
// which changes the digest.
func TestDigest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	want := digestWorld(t, r, nil)
	for range 10 {
		if got := digestWorld(t, r, nil); got != want {
			t.Fatalf("the same map has the digests %s and %s", want, got)
		}
	}
	at := func(f func(*schema.Visit)) func(string, *schema.Visit) {
		return func(page string, v *schema.Visit) {
			if page == "b.test/c" {
				f(v)
			}
		}
	}
	seen := map[string]string{want: "no change"}
	for name, f := range map[string]func(*schema.Visit){
		"state":       func(v *schema.Visit) { v.State = schema.Failed },
		"status":      func(v *schema.Visit) { v.Status = 203 },
		"body":        func(v *schema.Visit) { v.SHA256[31] = 1 },
		"anchor":      func(v *schema.Visit) { v.Links[2].Anchor = "other" },
		"kind":        func(v *schema.Visit) { v.Links[2].Kinds = surveytest.Kinds(schema.LinkCanonical) },
		"rel":         func(v *schema.Visit) { v.Links[2].Rel = schema.RelNofollow },
		"place":       func(v *schema.Visit) { v.Links[2].Place = schema.PlaceFooter },
		"a link less": func(v *schema.Visit) { v.Links = v.Links[1:] },
	} {
		digest := digestWorld(t, r, at(f))
		if other, ok := seen[digest]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[digest] = name
	}
}
