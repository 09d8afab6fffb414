// Package schema defines the vocabulary that every part of Ripple shares: the classes and states of a
// page, the records of the live state, and terrain.sql, the SQLite schema of the export.
//
// Records are plain data and know neither a store nor a network. Package kv encodes them; kv/survey
// interprets them.
//
// # The life of a URL
//
// When a link is found, its target gets an id and is "discovered". If a list names its host, it becomes "blacklisted"
// or "stubbed", and is not visited while the list names it. Otherwise its smallest depth decides: beyond max-depth it
// is "depth_exceeded", else it is "queued" at its host. The host's answer settles it: "processed", "dead_link",
// "failed", "content_mismatch" or "unreachable". When a host rate-limits Ripple, its waiting pages become
// "rate_limited"; when its budget is used up, "request_limit_hit". A new run, a shorter path or changed lists may queue
// a settled page again.
package schema
