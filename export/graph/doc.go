// Package graph writes the graph of package export in the formats that other
// programs read: GEXF 1.3, GraphML, DOT, JSON Lines, and folders of CSV or Parquet.
//
// All of them carry the same columns under the same names, integer ids, and what
// [export.Meta] says of the graph: a part of the terrain never passes for all of it.
// A column without a value is left out, or empty where a format needs every cell.
//
// What servers wrote is text and nothing else in every format: valid UTF-8 without
// control characters, non-characters and direction overrides, escaped, and in CSV
// no formula. Numbers are spelled as XML Schema does. Files are written as the
// graph streams by; nothing is held.
package graph
