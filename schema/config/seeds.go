package config

import (
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// WithSeeds returns the configuration with further seeds, each added to the first entry that covers its
// host. A host that no entry covers is refused, or gets its own entry if asQuality is set. Every
// refused URL is reported in the [*Errors] with its reason. c is not changed.
func (c *Config) WithSeeds(urls []string, asQuality bool) (*Config, error) {
	more := newSeeding(c)
	errs := &Errors{Path: "--seeds"}
	for i, raw := range urls {
		if err := more.add(raw, asQuality); err != nil {
			errs.add(Problem{Line: i + 1, Key: "seeds", Text: quote(raw) + " " + err.Error()})
		}
	}
	if err := errs.orNil(); err != nil {
		return nil, err
	}
	with, err := ParseEffective(more.Effective())
	if err == nil { // these are not part of the effective configuration
		with.notes, with.Network.Proxy = c.notes, c.Network.Proxy
	}
	return with, err
}

// AdmittedSeeds returns the seeds that [Config.WithSeeds] accepts.
func (c *Config) AdmittedSeeds(urls []string, asQuality bool) (admitted []string) {
	more := newSeeding(c)
	for _, raw := range urls {
		if more.add(raw, asQuality) == nil {
			admitted = append(admitted, raw)
		}
	}
	return admitted
}

// A seeding is a configuration to which seeds are added.
type seeding struct {
	Config
	known map[entrySeed]bool
	added map[scope.Pattern]int // new entries, for hosts that no entry covered
}

// An entrySeed is a seed of the entry with that number.
type entrySeed struct {
	entry int
	seed  string
}

func newSeeding(c *Config) *seeding {
	s := &seeding{*c, map[entrySeed]bool{}, map[scope.Pattern]int{}}
	s.Quality = slices.Clone(c.Quality)
	for i := range s.Quality {
		q := &s.Quality[i]
		q.Seeds = slices.Clip(q.Seeds)
		for _, seed := range q.Seeds {
			s.known[entrySeed{i, seed}] = true
		}
	}
	return s
}

func (s *seeding) add(raw string, asQuality bool) error {
	at, q := -1, Quality{}
	if u, err := s.rules.Parse(raw); err == nil {
		if at, q, err = s.entryOf(u.Host(), asQuality); err != nil {
			return err
		}
	}
	norm, err := s.seed(raw, &q)
	if err == nil {
		err = s.checkNewSeed(raw, norm)
	}
	if err != nil {
		return err
	}
	if rule, refused := s.scope.Refuse(weburl.Split(norm)); refused {
		return fmt.Errorf("would not be visited: %s", rule)
	}
	if at == len(s.Quality) {
		s.Quality = append(s.Quality, q)
		s.added[q.Pattern] = at
	}
	if known := (entrySeed{at, raw}); !s.known[known] {
		s.known[known] = true
		s.Quality[at].Seeds = append(s.Quality[at].Seeds, raw)
	}
	return nil
}

// entryOf returns the first entry that covers a host. Its number is len(s.Quality) if the entry does
// not exist yet.
func (s *seeding) entryOf(host string, asQuality bool) (int, Quality, error) {
	if covering := s.scope.OriginsOf(host); len(covering) > 0 {
		return covering[0], s.Quality[covering[0]], nil
	}
	if !asQuality {
		return -1, Quality{}, fmt.Errorf("belongs to no [[quality]] entry; --as-quality makes %s one for this run",
			quote(host))
	}
	q, err := newOrigin(host)
	if at, ok := s.added[q.Pattern]; ok && err == nil {
		return at, s.Quality[at], nil
	}
	return len(s.Quality), q, err
}

// newOrigin returns an entry for one host.
func newOrigin(host string) (Quality, error) {
	name, _ := weburl.SplitPort(host)
	p, _, err := scope.ParsePattern(name)
	return Quality{Name: p.String(), Pattern: p}, err
}
