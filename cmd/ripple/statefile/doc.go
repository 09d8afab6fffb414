// Package statefile finds, opens, locks and copies state files: which file a command is about, a copy of one that a
// crawl is writing, the shards of a terrain, and the empty file that takes the place of an old one.
package statefile
