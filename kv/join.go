package kv

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sumi-ripple/ripple/schema"
)

// ErrNoImport reports a file that does not hold one finished import and nothing else.
var ErrNoImport = errors.New("it does not hold one import")

// Join copies the file into a new one and adds, as one more run, the import that another file holds. The run is placed
// before the first run that holds newer answers, and never after a crawl that is the last run. The runs after it get
// the next number, and their visits follow its visits. Everything else stays as it is: URLs and hosts keep their
// numbers, and those that only the import knows follow them, without forms and without clocks. When Join returns the
// number of the run and of the last one, the new file is complete and synced; if it fails, which it does with the cause
// soon after ctx is done, the file is removed. Replacing the old file is up to the caller.
func (s *Store) Join(ctx context.Context, dst string, from *Store) (run, last schema.RunID, err error) {
	f, err := os.OpenFile(dst, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, 0, fmt.Errorf("join: %w", err)
	}
	err = f.Close()
	if err == nil {
		err = os.Remove(dst) // created below with the old seed
	}
	p := &pruning{ctx: ctx, old: s, joins: &joining{from: from}}
	if err == nil {
		err = p.place()
	}
	if err == nil {
		err = guard(func() error { return initialiseAfter(dst, s.seed, s.state.commit) })
	}
	if err == nil {
		err = p.copyTo(dst)
	}
	if err != nil {
		_ = os.Remove(dst)
		return 0, 0, fmt.Errorf("join %s: %w", s.path, err)
	}
	return p.joins.run.ID, s.state.lastRun() + 1, nil
}

// A joining adds the import that a file holds to the copy of another file.
type joining struct {
	from   *Store
	run    schema.Run
	before schema.Seq // the first visit of the old file that comes after it
	last   bool       // it is the last run

	urls  []uint32 // IDs in the new file by those in from
	hosts []uint32
}

// place chooses the number of the import, and keeps everything of the old file.
func (p *pruning) place() error {
	j := p.joins
	err := j.from.View(func(tx *Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		if len(runs) != 1 || runs[0].Kind != schema.RunImport || runs[0].Status != schema.RunCompleted {
			return fmt.Errorf("%s: %w", j.from.path, ErrNoImport)
		}
		j.run = runs[0]
		return nil
	})
	if err != nil {
		return err
	}
	j.urls, j.hosts = make([]uint32, j.from.state.urls+1), make([]uint32, j.from.state.hosts+1)
	p.visits, p.urls, p.hosts = all(p.old.state.visits), all(p.old.state.urls), all(p.old.state.hosts)
	return p.old.View(func(tx *Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		if p.from, err = tx.Meta.Pruned(); err != nil {
			return err
		}
		p.from = max(p.from, 1)
		at, n := p.from, schema.RunID(len(runs))
		for at <= n && !j.run.Before(&runs[at-1]) {
			at++
		}
		if n > 0 && runs[n-1].Kind == schema.RunCrawl {
			at = min(at, n)
			j.run.Joined = n + 1
		}
		j.run.ID, j.last, j.before = at, at > n, schema.Seq(p.old.state.visits)+1
		if !j.last {
			j.before = runs[at-1].FirstVisit
		}
		return nil
	})
}

// all marks the numbers from 1 to last.
func all(last uint32) []uint32 {
	kept := make([]uint32, last+1)
	for i := range kept[1:] {
		kept[i+1] = 1
	}
	return kept
}

// renumber returns the new number of a run.
func (p *pruning) renumber(run schema.RunID) schema.RunID {
	if p.joins != nil && run >= p.joins.run.ID {
		return run + 1
	}
	return run
}

func (p *pruning) renumberHost(h *schema.Host) {
	for _, run := range []*schema.RunID{&h.Run, &h.SitemapsRun, &h.SitemapsFor, &h.Missing.Run} {
		*run = p.renumber(*run)
	}
	for i := range h.Mazes {
		h.Mazes[i].Run = p.renumber(h.Mazes[i].Run)
	}
}

// joinRun adds the record of the import.
func (p *pruning) joinRun() error {
	j := p.joins
	j.run.FirstVisit = j.before
	j.run.Generation = 0
	if j.last {
		j.run.Generation = p.next.state.generation
	}
	return j.both(p, func(from, next *Tx) error {
		return errors.Join(next.Runs.Put(j.run), copyConfig(from, next, j.run.Config))
	})
}

func (j *joining) both(p *pruning, f func(from, next *Tx) error) error {
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	return j.from.View(func(from *Tx) error {
		return p.next.Update(func(next *Tx) error { return f(from, next) })
	})
}

// each calls f for the numbers from 1 to last, in transactions of limited size.
func (j *joining) each(p *pruning, last uint32, f func(from, next *Tx, n uint32) error) error {
	for n := uint32(1); n <= last; {
		err := j.both(p, func(from, next *Tx) error {
			for end := min(last, n+pruneCommit-1); n <= end; n++ {
				if err := f(from, next, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// joinURLs adds the hosts and URLs that only the import knows.
func (p *pruning) joinURLs() error {
	j := p.joins
	if j == nil {
		return nil
	}
	err := j.each(p, j.from.state.hosts, func(from, next *Tx, n uint32) error {
		h, err := from.Hosts.At(schema.HostID(n))
		if err != nil {
			return err
		}
		id, ok, err := next.Hosts.Lookup(h.Name)
		if err == nil && !ok {
			var added *schema.Host
			if added, err = next.Hosts.Add(h.Name); err == nil {
				id, added.HTTPS = added.ID, h.HTTPS
				next.Hosts.Put(added)
			}
		}
		j.hosts[n] = uint32(id)
		return err
	})
	if err != nil {
		return err
	}
	return j.each(p, j.from.state.urls, func(from, next *Tx, n uint32) error {
		u, err := from.URLs.At(schema.ID(n))
		if err != nil {
			return err
		}
		norm, err := from.URLs.Norm(u.ID)
		if err != nil {
			return err
		}
		u.Host, u.Referrer, u.FirstRun = schema.HostID(j.hosts[u.Host]), j.url(u.Referrer), j.run.ID
		hash := p.next.Hash(u.Kind, norm)
		id, ok, err := next.URLs.Lookup(hash, u.Host, u.Kind, u.PathQuery)
		if err == nil && !ok {
			if id, err = next.URLs.Add(u, hash); err == nil {
				err = countURL(next, &u)
			}
		}
		j.urls[n] = uint32(id)
		return err
	})
}

// countURL counts a URL that only an archive knows for its host: as one that is not the host's own.
func countURL(tx *Tx, u *schema.URL) error {
	h, err := tx.Hosts.At(u.Host)
	if err != nil {
		return err
	}
	h.Known++
	if u.Kind == schema.KindSitemap {
		h.Files++
	} else {
		h.Others++
	}
	tx.Hosts.Put(h)
	return nil
}

func (j *joining) url(id schema.ID) schema.ID { return schema.ID(j.urls[id]) }

// joinVisits adds the visits of the import.
func (p *pruning) joinVisits() error {
	j := p.joins
	offset := p.next.state.visits
	return j.each(p, j.from.state.visits, func(from, next *Tx, n uint32) error {
		v, err := from.Visits.At(schema.Seq(n))
		if err == nil {
			err = from.Visits.Anchors(v)
		}
		if err != nil {
			return err
		}
		if v.Stand != 0 {
			v.Stand += schema.Seq(offset)
		}
		v.Run = j.run.ID
		mapVisit(v, j.url)
		_, err = next.Visits.Add(v)
		return err
	})
}

// joinDepths gives the URLs of the import, which is the last run, their depths.
func (p *pruning) joinDepths() error {
	j := p.joins
	return j.each(p, j.from.state.urls, func(_, next *Tx, n uint32) error {
		id := schema.ID(n)
		if depth, hops := j.from.Depth(id); depth != NoDepth {
			next.Depths.Lower(j.url(id), depth, hops)
		}
		if j.from.Own(id) {
			next.Depths.SetOwn(j.url(id))
		}
		return nil
	})
}

// mapVisit renumbers the URLs in a visit.
func mapVisit(v *schema.Visit, url func(schema.ID) schema.ID) {
	v.URL, v.RedirectTo = url(v.URL), url(v.RedirectTo)
	for i := range v.Links {
		v.Links[i].To = url(v.Links[i].To)
	}
	for i := range v.Sitemap {
		v.Sitemap[i].To = url(v.Sitemap[i].To)
	}
}
