// Package kv is the live state of a crawl.
package kv
