// Package sqlite shows a survey as a SQLite database: the terrain with the
// tables, columns and indexes of terrain.sql (package schema), for people and
// programs that ask questions in SQL. [Write] makes a file of it; [Open] reads the same
// tables from the survey while a statement runs.
//
// What a row of a table is, and its columns, is said once, by the functions that return
// a relation.
//
// # The file
//
// A reader never sees half a file. The database is built under another name in
// the folder of the target, without a journal and in one transaction, synced, and
// then takes the target's name. A file that Ripple did not write is left alone;
// Ripple's own are known by their application id.
//
// Rows are written in the order of their ids, pages first, then links, so that
// most of the file is only appended to; all indexes follow the load, those of
// constraints included. What SQLite sorts for them lies beside the target, never in the
// system's folder for temporary files. What is held in
// memory is what SQLite needs, a few bytes for every page, the hosts, sites and entities,
// and the arrays of the metrics (package rank), which are worked out on the other cores while
// links are written. Links go through one by one; they are read again for each level above pages.
//
// # The virtual tables
//
// A [DB] is a connection to an empty database with a virtual table for each relation, and
// nothing is copied into it. Rows are made one by one, and a column that costs something to
// read is read when SQLite asks for it: to count pages none of them is read.
//
// Pages are found by id, URL and host, links by both ends, hosts by name, and what hangs
// on one of these by that. For all other columns that are compared with many values, as
// in a join, an index of hashes is made the second time; SQLite makes none for virtual
// tables. Rows come by ascending numbers, or descending ones. A comparison of texts that
// is not one of bytes (COLLATE) is left to SQLite, as is every comparison once more.
//
// What a statement needs of all pages or links is derived when it first does, and kept:
// the ends of links (16 bytes each at most), classes, depths, levels above pages, metrics.
//
// A statement can read, and nothing else: SQLite asks an authorizer of everything that it
// is to do. It ends soon after its context; of a panic in a table an error is made.
package sqlite
