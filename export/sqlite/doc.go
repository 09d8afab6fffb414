// Package sqlite provides a survey as a SQLite database: the terrain with the tables, columns and
// indexes of terrain.sql (package schema), for people and programs that use SQL. [Write] writes a file;
// [Open] reads the same tables from the survey while a statement runs.
//
// The rows and columns of each table are defined once, by the functions that return a relation.
//
// # The file
//
// A reader never sees an incomplete file. The database is built in the folder of the target under
// another name, without a journal and in one transaction, synced, and renamed to the target. A file
// that Ripple did not write is left alone; Ripple's own files are recognised by their application id.
//
// Rows are written in the order of their ids, pages first, then links, so most of the file is written
// by appending. All indexes, including those of constraints, are built after the load. SQLite's
// temporary files are next to the target, never in the system's temporary folder. Memory holds what
// SQLite needs, a few bytes per page, the hosts, sites and entities, and the arrays of the metrics
// (package rank), which are computed on the other cores while links are written. Links are streamed,
// and read again for each level above pages.
//
// # The virtual tables
//
// A [DB] is a connection to an empty database with a virtual table for each relation; nothing is copied
// into it. Rows are created one by one, and a column that is costly to read is read only when SQLite
// needs it: counting pages reads none.
//
// Pages are found by id, URL and host, links by both ends, hosts by name, and dependent rows by the
// keys of these. For other columns that are compared with many values, as in a join, a hash index is
// built at the second look-up, because SQLite builds none for virtual tables. Rows are in ascending or
// descending order of their numbers. A text comparison that is not bytewise (COLLATE) is left to
// SQLite, which also repeats every other comparison.
//
// Data about all pages or links is derived when a statement first needs it, and kept: the ends of links
// (at most 16 bytes each), classes, depths, levels above pages, metrics.
//
// Statements can only read: SQLite checks every action with an authorizer. A statement ends soon after
// its context. A panic in a table becomes an error.
package sqlite
