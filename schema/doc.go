// Package schema holds the words that every part of Ripple shares: the classes
// and states of a page, the records of the live
// state, and terrain.sql, the SQLite schema of the export.
//
// Records are plain data without behaviour towards a store or a network. Their
// encoding belongs to package kv, their meaning to kv/survey.
//
// # The life of a URL
//
// A link is found: its target gets an id and is "discovered". A list may name
// its host, then it is "blacklisted" or "stubbed" for good. Otherwise its
// smallest depth decides: beyond max-depth it is "depth_exceeded", else it is
// "queued" in the line of its host. What the host answers when it is asked settles it:
// "processed", "dead_link", "failed", "content_mismatch", "unreachable". A host that asks for rest makes its waiting
// pages "rate_limited"; one whose budget is used up, "request_limit_hit". A new
// run, a shorter path or changed lists may queue a settled page again.
package schema
