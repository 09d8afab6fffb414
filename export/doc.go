// Package export is the graph of a terrain as a stream of nodes and links, at the
// level of pages, hosts, entities or sites. It is the one definition of what a
// node, a link and their weights are: every format, the tables of the SQLite
// export and the metrics are made from it.
//
// A link of the graph stands for the pairs of pages that link between its two
// nodes. It weighs as many as there are pairs (Links), or as there are pages that
// link (Pages); Editorial are the pairs whose link stands in the text of the page, and
// not on most pages of its host, as those that are SiteWide do. At page level a link is
// one pair. Links within a node are left out.
//
// What is selected is a matter of [Options]: links by run, place and weight, nodes
// by run and class. Ids are those of the SQLite export whatever is selected; nodes
// come in the order of their ids, links in the order of both ends.
//
// At page level nothing is held but four bytes for every page; metrics take what
// package rank says. Above, the nodes and the links between them are held.
package export
