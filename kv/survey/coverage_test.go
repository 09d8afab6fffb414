package survey_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestOneHost holds the report on a host for which only its own pages were counted to the
// one that comes of counting all.
func TestOneHost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	if err := scaletest.Make(path, scaletest.Size{Pages: 3000, Links: 12_000, Hosts: 60}); err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	open := func() *survey.Survey {
		s, err := survey.New(store)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := map[schema.HostID]survey.HostReport{}
	if err := open().Hosts.Each(func(r *survey.HostReport) error { want[r.Host.ID] = *r; return nil }); err != nil {
		t.Fatal(err)
	}
	for id := range want {
		got, err := open().Hosts.Report(id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[id], *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", got.Host.Name, diff)
		}
	}
}
