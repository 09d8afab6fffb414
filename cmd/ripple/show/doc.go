// Package show prints answers for a person: the tables and texts of pages, hosts, counts and query rows, and the status
// of a running crawl. It computes nothing that a program would be given, too.
package show
