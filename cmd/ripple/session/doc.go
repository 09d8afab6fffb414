// Package session is a running crawl, of one state file or of the shards of a terrain that this machine has: it is
// foreseen, begun, watched, controlled and finished here. The desk and the figures of a terrain of several machines
// belong to it.
package session
