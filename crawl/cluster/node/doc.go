// Package node crawls the shards of a terrain that this process holds, together with the
// nodes that hold the others. What they say to each other goes over a [Hub], which may
// lose all of it: what lasts is in the state files.
//
// # The charter
//
// The first node of a terrain writes its charter to the hub: how many shards there are, the
// configuration that all follow, the number of the run, which node makes the file of
// which shard, and which files say that the run is over. Nodes that are there within
// [lease.Timing] Renew share the files out among themselves evenly; a file that nobody makes for Watch after
// that may be made by any of them. A shard stays where its file is. If the hub has lost the charter, a node
// that has files writes it again; the files that it does not have are taken to exist.
//
// A shard moves with its file: [Release] has its node let it go, and the node that finds the file takes it,
// at its start or later. The charter may be out of date, and have a node make a file that another node has by
// then: it leaves the shard to that node, and with an empty file it lets others come first. Of a shard whose file was
// crawled, as the charter knows, none is made again.
// A file that is gone for good is given up by
// [Recreate], which counts up the epoch of the shard. All files know the epochs of all shards,
// so that a file that was given up and turns up again is refused, even if the hub has lost
// the charter.
//
// [StopWithout] ends a run that waits for shards whose nodes are gone: the charter says so, every
// node stops, and every other file says that the run is interrupted without them. A file that
// could not say so does when its node is started again; after that the run goes on.
//
// # A shard's life
//
// For every file a node takes the lease of the shard, crawls it, and answers the others' letters. The node that
// holds shard 0 looks for the end of the run, and the others tell it how far they are. When the run is over, the
// file is kept open and answered for until all files say the same. A shard whose lease is lost is taken
// again. Crawls begin when every shard has a node that makes its file, because nodes ask the hosts of one address
// more slowly the more of them there are.
package node
