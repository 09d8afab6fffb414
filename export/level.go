package export

import (
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

// A Level is the kind of node in a graph.
type Level uint8

// The levels, from the finest.
const (
	LevelPage Level = iota
	LevelHost
	LevelEntity
	LevelSite
)

func levelNames() []string { return []string{"page", "host", "entity", "site"} }

// String returns the name used on the command line.
func (l Level) String() string { return levelNames()[l] }

// ParseLevel parses the name of a level.
func ParseLevel(name string) (Level, error) {
	i, err := choose("level", name, levelNames())
	return Level(i), err
}

// Places is a set of places of links; Classes is a set of classes.
type (
	Places  uint8
	Classes uint8
)

// siteWide is the member of a set of places that selects site-wide links, wherever they are.
const siteWide = schema.PlaceCount

// Has reports whether a place is in the set.
func (s Places) Has(p schema.Place) bool { return s&(1<<p) != 0 }

// Has reports whether a class is in the set. An empty set contains every class.
func (s Classes) Has(c schema.Class) bool { return s == 0 || s&(1<<c) != 0 }

// ParsePlaces parses names of places, and "sitewide".
func ParsePlaces(names []string) (Places, error) {
	var known []string
	for p := range schema.PlaceCount {
		known = append(known, p.String())
	}
	set, err := chooseAll("place", names, append(known, "sitewide"))
	return Places(set), err
}

// ParseClasses parses names of classes.
func ParseClasses(names []string) (Classes, error) {
	var known []string
	for c := range schema.ClassCount {
		known = append(known, c.String())
	}
	set, err := chooseAll("class", names, known)
	return Classes(set), err
}

// ParseKinds parses names of kinds of links.
func ParseKinds(names []string) (schema.Kinds, error) {
	var known []string
	for _, k := range schema.LinkKinds() {
		known = append(known, k.String())
	}
	set, err := chooseAll("kind", names, known)
	return schema.Kinds(set), err
}

func chooseAll(what string, names, known []string) (set uint16, err error) {
	for _, name := range names {
		i, err := choose(what, strings.TrimSpace(name), known)
		if err != nil {
			return 0, err
		}
		set |= 1 << i
	}
	return set, nil
}

func choose(what, name string, known []string) (int, error) {
	for i, k := range known {
		if k == name {
			return i, nil
		}
	}
	last := len(known) - 1
	return 0, fmt.Errorf("%q is not a %s; it may be %s or %s", name, what, strings.Join(known[:last], ", "), known[last])
}
