// Package node crawls the shards of a terrain that this process holds, together with the nodes that hold the
// others. Nodes communicate over a hub, which may lose everything: only the state files are durable.
//
// # The charter
//
// The first node of a terrain writes its charter to the hub: the number of shards, the configuration that all
// nodes follow, the number of the run, which node makes the file of which shard, and which files say that the run
// is over. A node without files does so only at a hub that nobody has used before, see [hub.Bucket.Fresh], or with
// Options.NewTerrain: a hub without a charter may have lost it. Once no further node joins, the nodes share the files
// evenly, and claim those shards at once. A file that is still missing after another Watch may be made by any of them.
// A shard stays where its file is. If the hub has lost the charter, a node with files restores it, and assumes that the
// files of all other shards exist. A running node restores what it knew, but others may have reserved shards since:
// no shard is reserved before they had time to say so, and one that was never crawled is not claimed at once.
//
// A shard moves with its file: [Release] makes a node let go of the shard, and the node that finds the file takes
// it, at its start or later. The charter may be out of date, and name a node for a file that another node already
// has. The named node then leaves the shard to the other one, and a node with an empty file lets others go first.
// If the charter says that a shard was crawled, no new file is made for it. A file that is lost for good is given
// up by [Recreate], which increments the epoch of the shard. Every file keeps the epochs of all shards, so a file
// that was given up and reappears is refused, even if the hub has lost the charter.
//
// [StopWithout] ends a run that waits for shards whose nodes are gone. The charter records that, every node stops,
// and every other file records that the run was interrupted without those shards. A file that could not be written
// then records it when its node is started again; the start after that resumes the run.
//
// # A shard's life
//
// For every file, a node takes the lease of the shard, crawls it, and answers letters from the others. The node
// that holds shard 0 looks for the end of the run by asking the other shards for their state. When the run of a
// shard is over, its file stays open, and the node answers for it until all files say that the run is over. A
// shard whose lease is lost is taken again. Crawls begin when every shard has a node that makes its file, because
// each node multiplies its delay between requests to an address by the number of nodes.
package node
