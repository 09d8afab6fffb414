// Package export is the graph of a terrain as a stream of nodes and links, at the
// level of pages, hosts, entities or sites. It is the one definition of what a
// node, a link and their weights are: every format, the tables of the SQLite
// export and the metrics are made from it.
//
// A link of the graph stands for the pairs of pages that link between its two
// nodes. Its weight is the number of pairs (Links); Pages counts the pages that link,
// Endorsements the pairs whose link endorses ([schema.Link.Endorses]), SiteWide
// those found on most pages of a host. At page level a link is one pair. Links within a
// node are left out.
//
// What is selected is a matter of [Options]: links by run, place and weight, nodes
// by run and class. Ids are those of the SQLite export whatever is selected. Above page level
// nodes have their places in the order of their names, so that nothing which is computed depends on
// the order in which they were met; pages have them in the order of their ids. Links come in the
// order of both ends. [Counted] says which links measures and pictures are made of, [Meter] how.
//
// At page level nothing is held but five bytes for every page; metrics take 8 bytes for every link
// that counts, and what package rank says. Above, the nodes are held, and 32 bytes for every link between them.
package export
