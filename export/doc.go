// Package export is the graph of a terrain as a stream of nodes and links, at the
// level of pages, hosts, entities or sites. It is the one definition of what a
// node, a link and their weights are: every format, the tables of the SQLite
// export and the metrics are made from it.
//
// A link of the graph stands for the pairs of pages that link between its two
// nodes. Its weight is the number of pairs (Links); Pages counts the pages that link,
// Editorial the pairs whose link is in the text of the page and not site-wide, SiteWide
// those found on most pages of a host. At page level a link is one pair. Links within a
// node are left out.
//
// What is selected is a matter of [Options]: links by run, place and weight, nodes
// by run and class. Ids are those of the SQLite export whatever is selected; nodes
// come in the order of their ids, links in the order of both ends.
//
// At page level nothing is held but four bytes for every page; metrics take what
// package rank says. Above, the nodes are held, and 32 bytes for every link between them.
package export
