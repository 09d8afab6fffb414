// Package serve is what the desk of a state file answers: one table of routes, the process that reads the state for it,
// the live view of a running crawl, decisions, and exports that are ordered there. The web server is package desk.
package serve
