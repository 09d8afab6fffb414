// Package answer is what Ripple answers, as values with JSON tags: a page, a host, the counts of a map, paths, broken
// links, suggestions, the rows of a query, the report of a run, the shards of a terrain. Each value is computed here
// from a state. How a person reads it is package show; how a browser gets it is the desk.
package answer
