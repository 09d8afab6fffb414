// Package graph writes the graph of package export in the formats that other
// programs read, GEXF 1.3 or 1.2, GraphML, DOT, JSON Lines, and folders of CSV or Parquet,
// and as the HTML map that package atlas draws.
//
// Those for programs carry the same columns under the same names, and integer ids. A
// column without a value is left out, or empty where a format needs every cell. The
// map lists the columns that have a title on the cards of its nodes. All of them say
// what [export.Meta] says of the graph: a part of the terrain never passes for all of
// it.
//
// What servers wrote is text and nothing else in every format: valid UTF-8 without
// control characters, non-characters and direction overrides, escaped, and in CSV
// no formula. Numbers are spelled as XML Schema does. Files are written as the
// graph streams by; but for the map, writers hold nothing.
package graph
