// Package sqlite writes a survey as a SQLite database: the terrain with the
// tables, columns and indexes of terrain.sql (package schema), for people and
// programs that ask questions in SQL.
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
// and the arrays of the metrics (package rank). Links go through one by one; they are read
// again for each level above pages.
package sqlite
