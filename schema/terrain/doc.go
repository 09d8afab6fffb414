// Package terrain says which class a URL has, which rule keeps it from being
// visited, and how that rule reads.
//
// A [Terrain] is built once from the lists of the configuration and never
// changes, so any number of goroutines may ask it. It knows hosts and URLs as
// package weburl normalises them; nothing is normalised again here.
//
// # Classes
//
// The first match wins: blacklist, stub, quality, otherwise discovered.
// Names and wildcard bases of all lists are the keys of one map. A look-up tries
// the host and then each name above it, so its cost grows with the number of
// labels of the host and not with the length of the lists.
//
// A [Pattern] matches a host whatever its port.
//
// # Refusals
//
// A page of a class that is visited can still be kept from being visited: by the
// include and exclude expressions of its origins, and by traps that show in the
// URL alone ([Terrain.Refuse]). Caps that need counting (queries of a path, pages
// below a prefix, pages of a group) are counted by the crawl; their rules and limits are
// here.
package terrain
