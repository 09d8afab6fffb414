package kv

import (
	"encoding/binary"

	"github.com/sumi-ripple/ripple/schema"
)

func (c *checker) urls() {
	s := c.tx.s
	_ = c.tx.URLs.findAll() // counters has reported its problems
	next := schema.ID(1)
	c.each(bURLs, 8, func(key []byte, r *reader) {
		if next%urlBlock != 1 || !isKey(key, uint64(next)/urlBlock) {
			c.problem("block %x of URLs follows URL %d", key, next-1)
			next = schema.ID(min(binary.BigEndian.Uint64(key), 1<<32/urlBlock-1)*urlBlock + 1)
		}
		for b := openURLs(r, next); b.next(); next++ {
			c.url(&b.u, b.path)
		}
	})
	if n := schema.ID(s.state.urls); next != n+1 {
		c.problem("%d URLs recorded, %d counted", next-1, n)
	}
}

// url compares the record of a URL with its in-memory state.
func (c *checker) url(u *schema.URL, path []byte) {
	s := c.tx.s
	if u.Host != s.HostOf(u.ID) || u.Kind != s.Kind(u.ID) || uint32(u.Referrer) > s.state.urls {
		c.problem("URL %d: host, kind or referrer differ from what was seen", u.ID)
		return
	}
	name, err := c.tx.Hosts.Name(u.Host)
	if c.failed(err) {
		return
	}
	probe := s.lookup.find(s.Hash(u.Kind, scheme+name+string(path)))
	for found := probe.next(); found != u.ID; found = probe.next() {
		if found == 0 {
			c.problem("URL %d is not found by its hash", u.ID)
			break
		}
	}
}

func (c *checker) forms() {
	n := 0
	c.each(bForms, 8, func(key []byte, r *reader) {
		n++
		if all := decodeOthers(r); !r.bad && !all.inOrder() {
			c.problem("forms of URL %d are not in order", idOf(key))
		}
		if c.tx.s.Shapes(idOf(key))&schema.ShapeOther == 0 {
			c.problem("forms of URL %d are not marked", idOf(key))
		}
	})
	for id := range c.tx.s.state.urls {
		if c.tx.s.Shapes(schema.ID(id)+1)&schema.ShapeOther != 0 {
			n--
		}
	}
	if n != 0 {
		c.problem("the number of URLs with other forms is wrong by %d", n)
	}
}

func (c *checker) visits() {
	s := c.tx.s
	next, commit := schema.Seq(1), uint64(0)
	latest, own := new(column[uint32]), new(column[schema.ID])
	c.each(bVisits, 8, func(key []byte, r *reader) {
		seq := schema.Seq(binary.BigEndian.Uint64(key))
		if seq != next {
			c.problem("visit %d follows visit %d", seq, next-1)
		}
		next = seq + 1
		v, _ := decodeVisit(r, seq)
		if r.bad {
			return
		}
		if v.URL == 0 || uint32(v.URL) > s.state.urls || v.Prev != schema.Seq(latest.at(v.URL)) {
			c.problem("visit %d: URL %d or its visit before are wrong", seq, v.URL)
			return
		}
		if v.Commit < commit || v.Commit > s.state.commit || v.Run > s.state.lastRun() {
			c.problem("visit %d: commit %d or run %d are wrong", seq, v.Commit, v.Run)
		}
		*latest.of(v.URL) = uint32(seq)
		commit = v.Commit
		c.targets(v)
		if v.Stand == 0 && seq <= schema.Seq(s.state.visits) {
			*own.of(schema.ID(seq)) = v.URL
		} else if v.Stand != 0 && own.at(schema.ID(v.Stand)) != v.URL {
			c.problem("visit %d: what stands of visit %d is not of URL %d, or not its own", seq, v.Stand, v.URL)
		}
	})
	if n := schema.Seq(s.state.visits); next != n+1 {
		c.problem("%d visits recorded, %d counted", next-1, n)
	}
	for id := schema.ID(1); uint32(id) <= s.state.urls && id != 0; id++ {
		if schema.Seq(latest.at(id)) != s.Latest(id) {
			c.problem("URL %d: its latest visit is %d, done says %d", id, latest.at(id), s.Latest(id))
		}
	}
}

// targets checks what a visit refers to.
func (c *checker) targets(v *schema.Visit) {
	urls := schema.ID(c.tx.s.state.urls)
	before := schema.ID(0)
	for i := range v.Links {
		if v.Links[i].To <= before || v.Links[i].To > urls {
			c.problem("visit %d: link to URL %d out of order or unknown", v.Seq, v.Links[i].To)
		}
		before = v.Links[i].To
	}
	for i := range v.Sitemap {
		if v.Sitemap[i].To == 0 || v.Sitemap[i].To > urls {
			c.problem("visit %d: sitemap entry %d unknown", v.Seq, v.Sitemap[i].To)
		}
	}
	if v.RedirectTo > urls {
		c.problem("visit %d: redirect to %d unknown", v.Seq, v.RedirectTo)
	}
}

func (c *checker) anchors() {
	before := schema.Seq(0)
	c.each(bAnchors, 10, func(key []byte, r *reader) {
		p := anchorPart{first: schema.Seq(r.uint()), last: schema.Seq(r.uint())}
		if p.first <= before || p.last < p.first || p.last > schema.Seq(c.tx.s.state.visits) {
			c.problem("anchors %x: visits %d to %d out of order", key, p.first, p.last)
		}
		before = p.last
		text, err := unzip(r, nil, c.tx.Visits.mostAnchors())
		if c.failed(err) {
			return
		}
		t := reader{b: text}
		for len(t.b) > 0 {
			seq, n := schema.Seq(t.uint()), t.length(1)
			links, err := c.tx.Visits.AppendLinks(nil, seq, 0)
			if c.failed(err) {
				return
			}
			if len(links) != n {
				c.problem("visit %d: %d anchors for %d links", seq, n, len(links))
			}
			for range n {
				t.raw(t.uint())
			}
		}
		r.bad = r.bad || t.bad
	})
}

func (c *checker) depths() {
	c.each(bDepths, 14, func(key []byte, r *reader) {
		if binary.BigEndian.Uint32(key) > c.tx.s.state.generation {
			c.problem("depths %x are of a later generation", key)
		}
		first, count := r.uint(), r.uint()
		c.failed(c.tx.eachID(first, count, r, func(schema.ID) { r.byte(); r.byte(); r.bool() }))
	})
}

// others checks records that nothing refers to.
func (c *checker) others() {
	run := schema.RunID(1)
	c.each(bRuns, 4, func(key []byte, r *reader) {
		id := schema.RunID(binary.BigEndian.Uint32(key))
		decodeRun(r, id)
		if id != run {
			c.problem("run %d follows run %d", id, run-1)
		}
		run = id + 1
	})
	c.each(bRobots, 4, func(key []byte, _ *reader) {
		_, _, err := c.tx.Hosts.Robots(schema.HostID(binary.BigEndian.Uint32(key)))
		c.failed(err)
	})
	c.each(bConfigs, 32, func(key []byte, _ *reader) {
		_, err := c.tx.Runs.Config([32]byte(key))
		c.failed(err)
	})
	c.failed(c.tx.Vouchers.check())
	c.failed(c.tx.Inlinks.check())
	c.each(bCaps, 16, func(_ []byte, r *reader) { r.id(); r.uint() })
	c.failed(c.tx.Messages.Each(func(*schema.Message) (bool, error) { return true, nil }))
	c.failed(c.tx.Openings.check())
	c.failed(c.tx.Outbox.check())
	c.failed(c.tx.Inbound.check())
	c.failed(c.tx.Peers.check())
}
