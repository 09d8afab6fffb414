// Package show prints answers for people: the tables and texts of pages, hosts, counts and query
// rows, and the status of a running crawl. It computes nothing that programs would also need.
package show
