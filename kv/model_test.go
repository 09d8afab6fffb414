package kv_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A model is the expected content of a store, in simple form.
type model struct {
	path       string
	s          *kv.Store
	hosts      []string
	urls       []schema.URL
	forms      []map[string]formed
	depths     [][2]uint8
	visits     []*schema.Visit
	waiting    map[[2]int][]schema.ID // by host and priority
	settled    map[schema.ID]bool
	caps       map[string]int
	pending    []schema.ID
	run        schema.RunID
	generation uint32
	commits    uint64
}

// TestModel applies random updates to a store and the model, reopens the store after some, and compares
// everything.
func TestModel(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		m := &model{
			path: filepath.Join(dir, fmt.Sprint(n)), waiting: map[[2]int][]schema.ID{}, settled: map[schema.ID]bool{},
			caps: map[string]int{}, generation: 1,
		}
		m.open(r)
		defer func() { m.s.Close() }()
		for range rapid.IntRange(1, 6).Draw(r, "commits") {
			m.update(r)
			m.compare(r)
			if rapid.Bool().Draw(r, "reopen") {
				m.s.Close()
				m.open(r)
				m.compare(r)
			}
		}
		m.s.Close()
		if err := kv.Check(m.path, func(problem string) { r.Error(problem) }); err != nil {
			r.Fatal(err)
		}
		os.Remove(m.path)
	})
}

func (m *model) open(r *rapid.T) {
	s, err := kv.Open(m.path, kv.Options{})
	if err != nil {
		r.Fatal(err)
	}
	s.FastForTests()
	m.s = s
}

func (m *model) update(r *rapid.T) {
	err := m.s.Update(func(tx *kv.Tx) error {
		if m.run == 0 || rapid.IntRange(0, 9).Draw(r, "new run") == 0 {
			m.run++
			clear(m.caps)
			if err := tx.Runs.Put(schema.Run{ID: m.run}); err != nil {
				return err
			}
		}
		for range rapid.IntRange(1, 60).Draw(r, "operations") {
			op := rapid.SampledFrom([]func(*rapid.T, *kv.Tx) error{
				m.addURL, m.addURL, m.addForm, m.setDepth, m.addVisit, m.push, m.push, m.pushMany, m.trim, m.addCap, m.setPending,
				m.newGeneration,
			}).Draw(r, "operation")
			if err := op(r, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	m.commits++
}

func (m *model) drawURL(r *rapid.T) schema.ID {
	return schema.ID(rapid.IntRange(1, len(m.urls)).Draw(r, "id"))
}

func (m *model) norm(id schema.ID) string {
	u := m.urls[id-1]
	return "https://" + m.hosts[u.Host-1] + u.PathQuery
}

func (m *model) addURL(r *rapid.T, tx *kv.Tx) error {
	name := rapid.SampledFrom([]string{"a.example", "b.a.example", "c.example:81", "192.0.2.1"}).Draw(r, "host")
	id, found, err := tx.Hosts.Lookup(name)
	if err != nil {
		return err
	}
	if want := slices.Index(m.hosts, name); found != (want >= 0) || found && id != schema.HostID(want+1) {
		r.Errorf("Hosts.Lookup(%q) = %d, %t; want index %d", name, id, found, want)
	}
	if !found {
		h, err := tx.Hosts.Add(name)
		if err != nil {
			return err
		}
		id = h.ID
		m.hosts = append(m.hosts, name)
	}
	u := schema.URL{
		Host: id, Kind: schema.URLKind(rapid.IntRange(0, 1).Draw(r, "kind")),
		FirstSeen: time.Unix(int64(len(m.urls)), 0).UTC(), FirstRun: m.run,
		PathQuery: fmt.Sprintf("/%d", rapid.IntRange(0, 40).Draw(r, "path")) +
			rapid.SampledFrom([]string{"", "?q", "?q=/"}).Draw(r, "query"),
		Referrer: schema.ID(rapid.IntRange(0, len(m.urls)).Draw(r, "referrer")),
	}
	hash := m.s.Hash(u.Kind, "https://"+name+u.PathQuery)
	got, found, err := tx.URLs.Lookup(hash, u.Host, u.Kind, u.PathQuery)
	if err != nil {
		return err
	}
	want := slices.IndexFunc(m.urls, func(v schema.URL) bool {
		return v.Host == u.Host && v.Kind == u.Kind && v.PathQuery == u.PathQuery
	})
	if found != (want >= 0) || found && int(got) != want+1 {
		r.Errorf("Lookup(%v) = %d, %t; want index %d", u, got, found, want)
	}
	if found {
		return nil
	}
	u.ID = schema.ID(len(m.urls) + 1)
	m.urls = append(m.urls, u)
	m.forms = append(m.forms, map[string]formed{})
	m.depths = append(m.depths, [2]uint8{kv.NoDepth, kv.NoDepth})
	_, err = tx.URLs.Add(u, hash)
	return err
}

func (m *model) addForm(r *rapid.T, tx *kv.Tx) error {
	if len(m.urls) == 0 {
		return nil
	}
	id := m.drawURL(r)
	u := m.urls[id-1]
	www := rapid.SampledFrom([]string{"", "www.", "WWW."}).Draw(r, "www")
	end := rapid.SampledFrom([]string{"", "/", "//", "?x", "?y", "?z", "&a"}).Draw(r, "end")
	form := "https://" + www + m.hosts[u.Host-1] + u.PathQuery + end
	own := rapid.Bool().Draw(r, "own")
	before := m.keptForms(id)
	f := m.forms[id-1][form]
	m.forms[id-1][form] = formed{own: f.own || own, foreign: f.foreign || !own}
	added, err := tx.URLs.AddForm(id, m.norm(id), form, own)
	if want := !cmp.Equal(before, m.keptForms(id)); added != want {
		r.Errorf("AddForm(%d, %q) = %t; want %t", id, form, added, want)
	}
	return err
}

// A formed says how a form was named.
type formed struct{ own, foreign bool }

func (m *model) keptForms(id schema.ID) schema.Forms {
	f := schema.Forms{Norm: m.norm(id)}
	for _, form := range slices.Sorted(maps.Keys(m.forms[id-1])) {
		by, shape := m.forms[id-1][form], schema.ShapeOf(f.Norm, form)
		switch {
		case shape != schema.ShapeOther:
			f.Shapes |= shape
			if by.own {
				f.Own |= shape
			}
			continue
		case by.own && len(f.Others) < schema.MaxOwnForms:
			f.Others = append(f.Others, form)
		}
		if by.foreign && len(f.Foreign) < schema.MaxForeignForms {
			f.Foreign = append(f.Foreign, form)
		}
	}
	return f
}

func (m *model) setDepth(r *rapid.T, tx *kv.Tx) error {
	if len(m.urls) == 0 {
		return nil
	}
	id := m.drawURL(r)
	depth := rapid.SampledFrom([]uint8{0, 1, 5, 254, kv.NoDepth}).Draw(r, "depth")
	hops := rapid.SampledFrom([]uint8{0, 3, kv.NoDepth}).Draw(r, "hops")
	d := &m.depths[id-1]
	d[0], d[1] = min(d[0], depth), min(d[1], hops)
	tx.Depths.Lower(id, depth, hops)
	return nil
}

func (m *model) addVisit(r *rapid.T, tx *kv.Tx) error {
	if len(m.urls) == 0 {
		return nil
	}
	v := &schema.Visit{URL: m.drawURL(r), Run: m.run, State: schema.Processed,
		Content: schema.Content{Title: rapid.StringN(0, 20, 40).Draw(r, "title")}, Length: -1}
	v.LastModified = rapid.SampledFrom([]string{"", "0", "Tue, 15 Nov 1994 12:45:26 GMT",
		"Mon, 01 Jan 0001 00:00:00 GMT"}).Draw(r, "date")
	if rapid.Bool().Draw(r, "form") {
		v.Form = rapid.SampledFrom([]string{m.norm(v.URL), m.norm(v.URL) + "/", "https://x"}).Draw(r, "which")
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.IntRange(1, len(m.urls)), 0, 20, rapid.ID).Draw(r, "links") {
		v.Links = append(v.Links, schema.Link{
			To: schema.ID(id), Kinds: schema.Kinds(rapid.IntRange(0, 1<<schema.LinkKindCount-1).Draw(r, "kinds")),
			Rel:    schema.Rel(rapid.IntRange(0, 7).Draw(r, "rel")),
			Place:  schema.Place(rapid.IntRange(0, 5).Draw(r, "place")),
			Anchor: rapid.SampledFrom([]string{"", "x", "home"}).Draw(r, "anchor"),
		})
	}
	seq, err := tx.Visits.Add(v)
	if seq != schema.Seq(len(m.visits)+1) {
		r.Errorf("Visits.Add = %d; want %d", seq, len(m.visits)+1)
	}
	m.settled[v.URL] = true
	m.visits = append(m.visits, v)
	return err
}

func (m *model) push(r *rapid.T, tx *kv.Tx) error { return m.pushN(r, tx, 1) }

func (m *model) pushMany(r *rapid.T, tx *kv.Tx) error {
	return m.pushN(r, tx, rapid.SampledFrom([]int{63, 64, 65, 130}).Draw(r, "n"))
}

func (m *model) pushN(r *rapid.T, tx *kv.Tx, n int) error {
	if len(m.urls) == 0 {
		return nil
	}
	id := m.drawURL(r)
	host := m.urls[id-1].Host
	priority := rapid.IntRange(0, 2).Draw(r, "priority")
	h, err := tx.Hosts.At(host)
	if err != nil {
		return err
	}
	for range n {
		if err := tx.Frontier.Push(h, uint8(priority), id); err != nil {
			return err
		}
		line := [2]int{int(host), priority}
		m.waiting[line] = append(m.waiting[line], id)
	}
	return nil
}

func (m *model) trim(r *rapid.T, tx *kv.Tx) error {
	if len(m.hosts) == 0 {
		return nil
	}
	host := rapid.IntRange(1, len(m.hosts)).Draw(r, "host")
	h, err := tx.Hosts.At(schema.HostID(host))
	if err != nil {
		return err
	}
	for line, ids := range m.waiting {
		if line[0] == host {
			n := 0
			for n < len(ids) && m.settled[ids[n]] {
				n++
			}
			m.waiting[line] = ids[n:]
		}
	}
	return tx.Frontier.Trim(h, func(id schema.ID) bool { return m.settled[id] })
}

func (m *model) addCap(r *rapid.T, tx *kv.Tx) error {
	group := rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "group")
	m.caps[group]++
	return tx.Runs.CountUp("rule", group, m.run)
}

func (m *model) setPending(r *rapid.T, tx *kv.Tx) error {
	m.pending = nil
	for _, id := range rapid.SliceOfN(rapid.Uint32(), 0, 5).Draw(r, "pending") {
		m.pending = append(m.pending, schema.ID(id))
	}
	return tx.Depths.SetPending(m.pending)
}

func (m *model) newGeneration(r *rapid.T, tx *kv.Tx) error {
	if rapid.IntRange(0, 5).Draw(r, "really") != 0 {
		return nil
	}
	m.generation++
	clear(m.waiting)
	for i := range m.depths {
		m.depths[i] = [2]uint8{kv.NoDepth, kv.NoDepth}
	}
	got, err := tx.Depths.NewGeneration()
	if got != m.generation {
		r.Errorf("NewGeneration = %d; want %d", got, m.generation)
	}
	return err
}

func (m *model) compare(r *rapid.T) {
	s := m.s
	if s.URLs() != len(m.urls) || s.Hosts() != len(m.hosts) || s.LastSeq() != schema.Seq(len(m.visits)) ||
		s.Generation() != m.generation || s.LastCommit() != m.commits {
		r.Fatalf("%d URLs, %d hosts, %d visits, generation %d, commit %d; want %d, %d, %d, %d, %d", s.URLs(), s.Hosts(),
			s.LastSeq(),
			s.Generation(), s.LastCommit(), len(m.urls), len(m.hosts), len(m.visits), m.generation, m.commits)
	}
	latest := map[schema.ID]schema.Seq{}
	for _, v := range m.visits {
		latest[v.URL] = v.Seq
	}
	for i, u := range m.urls {
		depth, hops := s.Depth(u.ID)
		if s.HostOf(u.ID) != u.Host || s.Kind(u.ID) != u.Kind || s.Latest(u.ID) != latest[u.ID] ||
			[2]uint8{depth, hops} != m.depths[i] {
			r.Errorf("URL %d: host %d, kind %d, latest %d, depth %d, hops %d; want %v, %d, %v", u.ID, s.HostOf(u.ID),
				s.Kind(u.ID),
				s.Latest(u.ID), depth, hops, u, latest[u.ID], m.depths[i])
		}
	}
	if err := s.View(func(tx *kv.Tx) error { return m.compareRecords(r, tx) }); err != nil {
		r.Fatal(err)
	}
}

func (m *model) compareRecords(r *rapid.T, tx *kv.Tx) error {
	var urls []schema.URL
	err := tx.URLs.Each(1, func(u schema.URL) (bool, error) { urls = append(urls, u); return true, nil })
	if err != nil {
		return err
	}
	if diff := cmp.Diff(m.urls, urls); diff != "" {
		r.Errorf("URLs:\n%s", diff)
	}
	for _, u := range m.urls {
		forms, err := tx.URLs.Forms(u.ID)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(m.keptForms(u.ID), forms); diff != "" {
			r.Errorf("forms of %q:\n%s", m.norm(u.ID), diff)
		}
	}
	var visits []*schema.Visit
	err = tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
		visits = append(visits, v)
		return true, tx.Visits.Anchors(v)
	})
	for _, v := range slices.Backward(visits) { // in any order
		for i := range v.Links {
			v.Links[i].Anchor = ""
		}
		err = errors.Join(err, tx.Visits.Anchors(v))
	}
	if err != nil {
		return err
	}
	if diff := cmp.Diff(m.visits, visits); diff != "" {
		r.Errorf("visits:\n%s", diff)
	}
	for group := range m.caps {
		if n, err := tx.Runs.Count("rule", group); err != nil || n != m.caps[group] {
			r.Errorf("Count(%q) = %d, %v; want %d", group, n, err, m.caps[group])
		}
	}
	pending, err := tx.Depths.Pending()
	if !slices.Equal(pending, m.pending) {
		r.Errorf("pending %v; want %v", pending, m.pending)
	}
	for i := range m.hosts {
		if err := m.compareQueues(r, tx, i+1); err != nil {
			return err
		}
	}
	return err
}

func (m *model) compareQueues(r *rapid.T, tx *kv.Tx, host int) error {
	h, err := tx.Hosts.At(schema.HostID(host))
	if err != nil {
		return err
	}
	got := map[[2]int][]schema.ID{}
	last := 0
	err = tx.Frontier.Walk(h, func(priority uint8, id schema.ID) bool {
		if int(priority) < last {
			r.Errorf("host %d: priority %d after %d", host, priority, last)
		}
		last = int(priority)
		got[[2]int{host, last}] = append(got[[2]int{host, last}], id)
		return true
	})
	n := 0
	for priority := range 3 {
		line := [2]int{host, priority}
		n += len(got[line])
		if !slices.Equal(got[line], m.waiting[line]) {
			r.Errorf("host %d, priority %d: %v waits; want %v", host, priority, got[line], m.waiting[line])
		}
	}
	if h.Generation == m.generation && h.Waiting != n {
		r.Errorf("host %d: Waiting = %d; %d wait", host, h.Waiting, n)
	}
	return err
}
