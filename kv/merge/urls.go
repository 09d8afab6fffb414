package merge

import (
	"cmp"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// copyURLs merges the URLs of all shards. Each shard has them roughly in the order in which they were first
// seen.
func (m *merger) copyURLs() error {
	heads := make([]schema.URL, len(m.sources)) // next URL of each; ID 0: none left
	for n, s := range m.sources {
		if err := s.advance(&heads[n]); err != nil {
			return err
		}
	}
	return m.batches(func(tx *kv.Tx) (bool, error) {
		first := -1
		for n := range heads {
			if heads[n].ID != 0 && (first < 0 || earlier(&heads[n], &heads[first]) < 0) {
				first = n
			}
		}
		if first < 0 {
			return false, nil
		}
		s := m.sources[first]
		if err := m.addURL(tx, s, heads[first]); err != nil {
			return false, s.named(err)
		}
		return true, s.advance(&heads[first])
	})
}

func earlier(a, b *schema.URL) int {
	return cmp.Or(cmp.Compare(a.FirstRun, b.FirstRun), a.FirstSeen.Compare(b.FirstSeen))
}

// advance reads the URL after head; after the zero value the first, and after the last the zero value.
func (s *source) advance(head *schema.URL) error {
	if int(head.ID) == s.store.URLs() {
		*head = schema.URL{}
		return nil
	}
	next, err := s.tx.URLs.At(head.ID + 1)
	*head = next
	return s.named(err)
}

// addURL adds a URL, unless another shard has added it, and its forms.
func (m *merger) addURL(tx *kv.Tx, s *source, url schema.URL) error {
	name, err := s.tx.Hosts.Name(url.Host)
	if err != nil {
		return err
	}
	h, err := host(tx, name)
	if err != nil {
		return err
	}
	norm, old := "https://"+name+url.PathQuery, url.ID
	hash := m.dst.Hash(url.Kind, norm)
	id, found, err := tx.URLs.Lookup(hash, h.ID, url.Kind, url.PathQuery)
	if err == nil && !found {
		url.Host, url.Referrer = h.ID, s.urls[url.Referrer]
		if id, err = tx.URLs.Add(url, hash); err == nil {
			h.Known++
			if url.Kind == schema.KindSitemap {
				h.Files++
			} else if !s.store.Own(old) {
				h.Others++
			}
			tx.Hosts.Put(h)
		}
	}
	if err != nil {
		return err
	}
	s.urls[old] = id
	forms, err := s.tx.URLs.Forms(old)
	if err != nil {
		return err
	}
	return tx.URLs.AddForms(id, &forms)
}

// known returns the new ID of a URL. An ID that the old file does not have is damage.
func (s *source) known(id schema.ID) (schema.ID, error) {
	if int(id) >= len(s.urls) {
		return 0, s.named(fmt.Errorf("%w: URL %d is not there, and waits", kv.ErrDamaged, id))
	}
	return s.urls[id], nil
}

// host returns a host of the new file, adding it if it is new.
func host(tx *kv.Tx, name string) (*schema.Host, error) {
	id, found, err := tx.Hosts.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !found {
		return tx.Hosts.Add(name)
	}
	return tx.Hosts.At(id)
}

// copyHosts copies the data of each host from its own shard. The counts of URLs left out due to limits are
// summed.
func (m *merger) copyHosts() error {
	run := schema.RunID(len(m.sources[0].runs))
	return m.each(func(s *source) int { return s.store.Hosts() }, func(tx *kv.Tx, s *source, n int) error {
		from, err := s.tx.Hosts.At(schema.HostID(n))
		if err != nil {
			return err
		}
		h, err := host(tx, from.Name)
		if err != nil {
			return err
		}
		https, overflow, before := h.HTTPS || from.HTTPS, 0, 0
		for _, one := range []*schema.Host{h, from} {
			now, earlier := leftOut(one, run)
			overflow, before = overflow+now, before+earlier
		}
		last := max(h.Run, from.Run)
		if s.own(from.ID) {
			id, generation, known, files, others := h.ID, h.Generation, h.Known, h.Files, h.Others
			*h = *from
			h.ID, h.Generation, h.Queues, h.Waiting, h.Retries = id, generation, nil, 0, nil
			h.Known, h.Files, h.Others = known, files, others
		} else if h.Place == schema.NoPlace { // its own shard may not have recorded it
			h.Place = from.Place
		}
		h.BeginRun(last) // its own shard may not have reached it
		h.HTTPS, h.Overflow, h.OverflowBefore = https, overflow, before
		tx.Hosts.Put(h)
		robots, ok, err := s.tx.Hosts.Robots(from.ID)
		if err == nil && ok && s.own(from.ID) {
			err = tx.Hosts.PutRobots(h.ID, robots)
		}
		return err
	})
}

// leftOut returns the number of a host's URLs that limits have left out in a run, and before it.
func leftOut(h *schema.Host, run schema.RunID) (now, before int) {
	if h.Run != run {
		return 0, max(h.Overflow, h.OverflowBefore)
	}
	return h.Overflow, h.OverflowBefore
}

func (m *merger) copyDepths() error {
	return m.each(func(s *source) int { return s.store.URLs() }, func(tx *kv.Tx, s *source, n int) error {
		depth, hops := s.store.Depth(schema.ID(n))
		tx.Depths.Lower(s.urls[n], depth, hops)
		if s.store.Own(schema.ID(n)) {
			tx.Depths.SetOwn(s.urls[n])
		}
		return nil
	})
}

// copyQueues copies the queues and the retries that are due.
func (m *merger) copyQueues() error {
	return m.each(func(s *source) int { return s.store.Hosts() }, func(tx *kv.Tx, s *source, n int) error {
		from, err := s.tx.Hosts.At(schema.HostID(n))
		if err != nil || !s.own(from.ID) {
			return err
		}
		h, err := host(tx, from.Name)
		if err != nil {
			return err
		}
		retries := from.Retries
		if from.Run != h.Run { // they were of an earlier run
			retries = nil
		}
		for _, r := range retries {
			if r.URL, err = s.known(r.URL); err != nil {
				return err
			}
			h.Retries = append(h.Retries, r)
		}
		tx.Hosts.Put(h)
		var failed error
		err = s.tx.Frontier.Walk(from, func(priority uint8, id schema.ID) bool {
			failed = tx.Frontier.Push(h, priority, s.urls[id])
			return failed == nil
		})
		return cmp.Or(err, failed)
	})
}
