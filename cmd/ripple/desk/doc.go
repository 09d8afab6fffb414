// Package desk shows a terrain in the browser, and to programs as JSON. It is a server on
// a TCP address; its application and API require its token.
//
// # What it answers
//
// Everything that can be asked or told is a [Route] in one table, from which the API
// and its description, openapi.json, are made. What goes on now is asked of the running
// crawl through its control socket. What reads the terrain is asked of the [Reader], a
// process of its own at lowest priority that may be slow or end without harm.
//
// # Whom it lets in
//
// Pages of other sites, names that were made to lead here, and other users of this
// machine are kept out, in this order (see [Guard]):
//
//	421  the Host header names another host than this: a DNS name was rebound
//	403  a browser says that a page of another origin asks
//	401  the token is missing or wrong
//
// The application itself is sent to anybody on the right host: it holds no data. Changes
// take POST and JSON. Whatever is sent, headers and bodies are bounded in bytes and in
// time, and so is the number of connections: where there are too many, the one that would
// be missed least goes.
package desk
