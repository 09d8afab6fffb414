// Package graph writes the graph of package export in formats that other programs read: GEXF 1.3 or
// 1.2, GraphML, DOT, JSON Lines, and folders of CSV or Parquet. It also writes the HTML map of package
// atlas, and the nodes alone as OPML, a list to subscribe to.
//
// The formats for programs have the same columns under the same names, and integer ids. A column
// without a value is left out, or empty where a format needs every cell. The map lists the columns with
// a title on the cards of its nodes. All formats include [export.Meta], so a part of the terrain is
// always marked as such.
//
// In every format, text from servers is only text: valid UTF-8 without control characters,
// non-characters and direction overrides, escaped, and never a formula in CSV. Numbers are formatted as
// in XML Schema. Except for the map, files are written while the graph streams, and writers hold
// nothing in memory.
package graph
