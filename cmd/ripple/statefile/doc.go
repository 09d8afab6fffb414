// Package statefile finds, opens, locks, copies, checks, compacts and prunes state files: which file a command is
// about, a copy of one that a crawl is writing, the shards of a terrain, and the file that replaces an old one.
package statefile
