// Package answer holds Ripple's answers as values with JSON tags: a page, a host, the counts of a
// map, paths, broken links, suggestions, the rows of a query, the report of a run, the shards of a
// terrain. Each value is computed here from a state. Package show prints it for people; the desk
// sends it to a browser.
package answer
