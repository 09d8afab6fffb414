package answer

import (
	"cmp"
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	MaxHistory     = 100 // visits shown
	maxOriginPaths = 10
	maxRedirected  = schema.MaxRedirects + 1
)

// InspectPage returns what is known about a URL. It lists up to limit links in each direction. place restricts the
// links to the page to one of the [Places]; empty: any place.
func (r Inspector) InspectPage(raw, place string, limit int) (*Page, error) {
	if err := checkPlace(place); err != nil {
		return nil, err
	}
	u, err := ParseURL(r.Config().Rules(), raw)
	if err != nil {
		return nil, err
	}
	steps, _, err := r.Config().Rules().Explain(completed(raw))
	if err != nil {
		return nil, err
	}
	verdict := r.Scope().Classify(u.Norm)
	in := &Page{Input: raw, URL: u.Norm, Shown: weburl.ShownIfOther(u.Host()), SURT: weburl.SURT(u.Norm),
		Class: verdict.Class.String(), Rule: verdict.Rule}
	in.ClassRule = verdict.Rule
	for _, s := range steps {
		in.Steps = append(in.Steps, urlStep{s.Name, s.Result})
	}
	if rule, refused := r.Scope().Refuse(u.Host(), u.PathQuery()); refused && verdict.Class.Visitable() {
		in.Rule = rule.String()
	}
	id, known, err := r.Lookup(u.Norm)
	if err != nil {
		return in, err
	}
	form := u.Form
	if in.Known = known; known {
		if in.Known, err = r.Maps(id); err == nil && !in.Known {
			in.Archives, err = r.ArchivesOf([]schema.ID{id})
		}
		if err != nil {
			return in, err
		}
	}
	if in.Known {
		if in.KnownPage, err = r.page(id, u.Norm, place, limit); err != nil {
			return in, err
		}
		in.Rule, form = in.KnownPage.Rule, cmp.Or(in.KnownPage.form, form)
	}
	v, ok, err := r.AskRobots(u.Host(), form, "")
	if ok {
		in.Robots = &v
	}
	return in, err
}

// An Inspector answers questions about one state.
type Inspector struct{ *statefile.State }

// RunQuery runs a statement over tables whose metrics are computed from the counted links. It calls
// answer with the column names; answer returns the function that takes the rows.
func (r Inspector) RunQuery(
	ctx context.Context, text string, counted export.Counted, answer func(columns []string) RowWriter,
) error {
	d, err := sqlite.Open(r.Survey)
	if err != nil {
		return err
	}
	defer d.Close()
	d.Count(counted)
	var w RowWriter
	err = d.Query(ctx, text, func(columns []string) (func([]any) (bool, error), error) {
		w = answer(columns)
		return w.Row, nil
	})
	if wrong := new(sqlite.StatementError); errors.As(err, &wrong) {
		return term.Usage("%s; \"ripple query --schema\" shows the tables", term.Clean(wrong.Text, 500))
	}
	if errors.Is(err, sqlite.ErrMemory) {
		return term.Usage("%v; ask for less, or export the map and ask sqlite3", err)
	}
	if err != nil {
		return statefile.Advise(r.Path, err)
	}
	return w.End()
}
