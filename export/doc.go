// Package export provides the graph of a terrain as a stream of nodes and links, at the level of pages,
// hosts, entities or sites. It is the single definition of nodes, links and their weights: every
// format, the tables of the SQLite export and the metrics use it.
//
// A link of the graph represents the pairs of pages that link between its two nodes. Its weight is the
// number of pairs (Links). Pages counts the linking pages, Endorsements the pairs whose link endorses
// ([schema.Link.Endorses]), and SiteWide the pairs whose link is on most pages of a host. At page level
// a link is one pair. Links within a node are left out.
//
// [Options] select links by run, place and weight, and nodes by run and class. Ids are those of the
// SQLite export, whatever is selected. Above page level, nodes are ranked by name, so no computed value
// depends on the order in which they were found. Pages are ranked by id. Links are sorted by their
// ends. [Counted] says which links are used for measures and pictures, [Meter] how.
//
// At page level, memory use is five bytes per page; metrics need 8 bytes per counted link, plus the
// needs of package rank. Above page level, the nodes are in memory, and 32 bytes per link between them.
package export
