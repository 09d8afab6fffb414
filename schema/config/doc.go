// Package config reads the configuration: TOML in, the effective configuration out.
//
// Each key is declared once, with its name, its meaning, its place in [Config] and
// the values that it takes. Reading, the effective text, the sample and the
// suggestions for unknown keys all come from that declaration, and the default of
// a key is what [Config] holds before anything was read.
//
// [Load] and [Parse] report every violated rule at once as [*Errors]. What is read is bounded:
// nesting, statements and bytes of the file, bytes of each list.
//
// # The effective configuration
//
// [Config.Effective] writes every key, paths resolved, together with the names that
// list files and presets held, in one canonical text. It needs no other file to be
// read again by [ParseEffective], and it is the same text again then, so its hash
// identifies what a run was told to do. The password of a proxy is left out of it:
// it says nothing about the terrain and does not belong in a state file.
package config
