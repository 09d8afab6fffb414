// Package node crawls the shards of a terrain that this process holds, together with the
// nodes that hold the others. What they say to each other goes over a [Hub], which may
// lose all of it: what lasts is in the state files.
//
// # The charter
//
// The first node of a terrain writes its charter to the hub: how many shards there are, the
// configuration that all follow, the run that the terrain has come to, who makes the file of
// which shard, and which files say that the run is over. Nodes that are there within
// [lease.Timing] Renew share the files out among themselves evenly; what nobody makes for Watch after that
// anybody may. A shard stays where its file is. Where the hub has lost the charter, a node
// that has files writes it again; the files that it does not have are taken to exist.
//
// A shard moves with its file: [Release] has its node let it go, and the node takes it that
// finds the file, at its start or later. A node that was to make a file which another has by then,
// as a charter says that is not up to date, leaves it to that one. A file that is gone for good is given up by
// [Recreate], which counts up the epoch of the shard. All files know the epochs of all shards,
// so that one that was given up and turns up again is refused, also by a hub that has lost
// the charter.
//
// [StopWithout] ends a run that waits for shards whose nodes are gone: the charter says so, every
// node stops, and every other file says that the run is interrupted without them. A file that
// could not say it does when its node is started again; after that the run goes on.
//
// # A shard's life
//
// For every file a node takes the lease of the shard, crawls it, answers the others' letters,
// and says what it is when the end of the run is looked for, which the node does that holds
// shard 0. When the run is over the file is kept open and answered for, until all files say
// the same. A shard whose lease is lost is taken anew. Crawls begin when every shard has a
// node that makes its file, for the clock of an address that several of them ask is as many times
// slower as there are nodes.
package node
