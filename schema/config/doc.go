// Package config reads the configuration: TOML in, the effective configuration out.
//
// Each key is declared once, with its name, its meaning, its place in [Config] and its valid values.
// Reading, the effective text, the sample and the suggestions for unknown keys all use that
// declaration. The default of a key is the value in [Config] before anything is read.
//
// [Load] and [Parse] report every violated rule at once, as [*Errors]. Input is limited: the nesting,
// statements and bytes of the file, and the bytes of each list.
//
// # The effective configuration
//
// [Config.Effective] writes every key, with resolved paths and the names from list files and presets,
// as one canonical text. [ParseEffective] reads it back without any other file, and writing it again
// gives the same text. Its hash therefore identifies the instructions of a run. The password of a proxy
// is left out: it says nothing about the terrain and does not belong in a state file.
package config
