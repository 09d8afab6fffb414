// Package desk shows a terrain in the browser, and to programs as JSON. It is a server on a TCP
// address; its application and API require its token.
//
// # What it answers
//
// Everything that can be requested is a [Route] in one table, from which the API and its
// description, openapi.json, are made. Requests about current activity go to the running crawl,
// through its control socket. Requests that read the terrain go to the [Reader], a process of its
// own at lowest priority that may be slow or end without harm.
//
// # Whom it lets in
//
// Pages of other sites, names that were made to resolve to this machine, and other users of this
// machine are kept out, in this order (see [Guard]):
//
//	421  the Host header names another host: a DNS name was rebound
//	403  a browser says that the request comes from a page of another origin
//	401  the token is missing or wrong
//
// The application itself is sent to anyone who uses the right host: it holds no data. Changes take
// POST and JSON. Headers and bodies are limited in bytes and in time, and so is the number of
// connections: if there are too many, the one that would be missed least is closed.
package desk
