// Package webgraph reads a web graph of Common Crawl and finds who links to the origins from outside the terrain.
//
// A release has a graph of hosts and one of domains (registrable names). Each is three lists of lines, whose fields
// are separated by a tab. Names are written from the right, com.example.www, and most of them without www.
//
//	vertices   id, name, in a graph of domains also the number of hosts; ids ascend
//	edges      id of the source, id of the target; no order is needed
//	ranks      position by harmonic centrality, its value, position by PageRank, its value, name, in a graph of
//	           domains also the number of hosts; the first line begins with #
//
// A list is a file of text or gzip (of several members, too), or the files that a list of paths names, one a line.
//
// [Reader.Read] reads vertices, edges and vertices again, and then ranks, each from beginning to end: first for the
// ids of the hosts of the origins, then for the pairs of a source and an origin, then for the names of the sources.
// Memory holds 8 bytes for each of at most 4 million pairs, and, if there are ranks, 16 bytes for each of at most
// 5 million sources, so of more the ranks are read again. All other results are in a folder for temporary files.
//
// A graph is made from a sample of the web. That it lacks a link does not mean that there is none.
package webgraph
