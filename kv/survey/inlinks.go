package survey

import (
	"context"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Graph returns the web graph that the in-links from outside are from; ok is false if none was read.
func (s *Survey) Graph() (g schema.Graph, ok bool, err error) {
	err = s.core.view(func(tx *kv.Tx) (err error) {
		g, ok, err = tx.Inlinks.Graph()
		return err
	})
	return g, ok, err
}

// Inlinks returns at most n of the in-links from outside the terrain that come after that of a host; empty: the first
// ones. They are the same for every run.
func (s *Survey) Inlinks(after string, n int) (all []schema.Inlink, err error) {
	if err := context.Cause(s.Context()); err != nil {
		return nil, err
	}
	err = s.core.view(func(tx *kv.Tx) error {
		return tx.Inlinks.Each(after, func(l *schema.Inlink) (bool, error) {
			all = append(all, *l)
			return len(all) < n, nil
		})
	})
	return all, err
}

// inlinkBatch is the number of in-links that are read at a time.
const inlinkBatch = 1 << 10

// EachInlink calls f for every in-link from outside, in the order of [Survey.Inlinks].
func (s *Survey) EachInlink(f func(l *schema.Inlink) error) error {
	return s.eachInlinks(func(all []schema.Inlink) error {
		for i := range all {
			if err := f(&all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachOutside is like [Survey.EachInlink] without hosts that the terrain has met since the graph was read. In a graph
// of domains, it has met a domain if it has met a host below it.
func (s *Survey) EachOutside(f func(l *schema.Inlink) error) error {
	g, _, err := s.Graph()
	if err != nil {
		return err
	}
	return s.eachInlinks(func(all []schema.Inlink) error {
		met := make([]bool, len(all))
		err := s.core.view(func(tx *kv.Tx) (err error) {
			for i := range all {
				if met[i], err = tx.Hosts.Knows(all[i].Host, g.Domains); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i := range all {
			if met[i] {
				continue
			}
			if err := f(&all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachInlinks calls f for all in-links, a batch at a time.
func (s *Survey) eachInlinks(f func(all []schema.Inlink) error) error {
	for after := ""; ; {
		all, err := s.Inlinks(after, inlinkBatch)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := f(all); err != nil {
			return err
		}
		after = all[len(all)-1].Host
	}
}
