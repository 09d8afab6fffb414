// Package node crawls the shards of a terrain that this process holds, together with the nodes that hold the
// others. Nodes communicate over a hub, which may lose everything: only the state files are durable.
//
// # The charter
//
// The first node of a terrain writes its charter to the hub: the number of shards, the configuration that all
// nodes follow, the number of the run, whether all shards have files, and which files say that the run is over. A
// node without files does so only at a hub that nobody has used before, see [hub.Bucket.Fresh], or with
// Options.NewTerrain: a hub without a charter may have lost it. If the hub has lost the charter, a node with files
// restores it, and a running node restores what it knew. Files and nodes tell a charter what they know in the same way:
// what is newer replaces what is older, for each of its parts.
//
// A running node reads the charter when it hears that it was written, and now and then, see [hub.Watch].
//
// Once no further node joins, each makes files for its share of the shards, and claims those shards at once. If two
// nodes make a file for the same shard, its record decides, and the other node removes its file. A file that is still
// missing half a minute later may be made by any node. Once every shard has a file, the charter says so, the crawls
// begin, and no node makes a file for a shard any more, even if the hub has lost the record of the shard. Where the hub
// has lost a charter that did not say so, nodes that have claimed shards get some time to claim them again.
//
// A shard stays where its file is, and moves with it: [Release] makes a node let go of the shard, and the node that
// finds the file takes it, at its start or later. [Move] moves it over the hub, see below. A file that is lost for
// good is given up by [Recreate], which increments the epoch of the shard and names the node that makes the next
// file. Every file keeps the epochs of all shards, so a file that was given up and reappears is refused, even if the
// hub has lost the charter.
//
// [StopWithout] ends a run that waits for shards whose nodes are gone. The charter records that, every node stops,
// and every other file records that the run was interrupted without those shards. A file that could not be written
// then records it when its node is started again; the start after that resumes the run.
//
// # A move
//
// The source is the node that holds a shard, and the target the one that is to have it. The source does everything;
// the target only obeys. The source makes the target's copy equal to its file while it crawls, stops the crawl, and
// does it again, with package transfer. The target then syncs the copy and gives it a name that says it is whole.
// The source commits a mark to its file, which names the target and the ID of the move, releases its lease, and
// tells the target to take the shard. The target renames the copy to that of the shard, and claims it as it claims
// every file that arrives. When the record of the shard names an opening that the source's file lacks, the source
// renames its file to .moved.
//
// Two rules make that safe, whatever is killed, and whatever the hub has lost. A copy becomes the file of the shard
// only after the source has said that its own is marked. A node never takes a shard with a marked file, unless the
// target has answered that it will not use the copy, and the target has then made the copy useless on its disk,
// under a name that stays. So of the two files one at most can ever be opened, and the record is not needed to
// decide which. As a node that no longer has the copy cannot tell a move that never came that far from a shard that
// has moved on, it says so, and the source waits until the record decides.
//
// Before the mark, a failure of either node ends the move, and the source crawls the shard again. After it, a source
// that is started again continues where it was; it first releases the lease of its own dead process, whose file it has
// locked. The copy is made from the commit before the mark, which the record names, so that the target's file contains
// what it must, and the source's lacks the opening that the target adds.
//
// No host is requested too early after a move: when a host may be requested again is in the file, and the source has
// answered or cancelled every request before the copy is compared. Nodes share the delay between requests to an
// address, so the target waits until the others had time to count the nodes again, as for any shard of another node.
//
// # A shard's life
//
// For every file, a node takes the lease of the shard, crawls it, and answers letters from the others. The node
// that holds shard 0 looks for the end of the run by asking the other shards for their state. When the run of a
// shard is over, its file stays open, and the node answers for it until all files say that the run is over. A
// shard whose lease is lost is taken again. If another process with the ID of this node renews that lease, one of the
// two machines is a copy of the other, and both nodes end with [ErrTwin]. Crawls begin when every shard has a file,
// because each node multiplies its delay between requests to an address by the number of nodes. It reads that number
// from the records of the shards, and therefore does not crawl a shard that may come from another node before the
// others had time to read them.
//
// # Hosts that share an address
//
// Each node multiplies its delay between requests to an address by the number of nodes, so together they request an
// address as often as one machine does. Hosts at one address that are spread over the nodes are therefore crawled as
// fast as by one machine; if a single node has all of them, it takes as many times longer as there are nodes, see
// BENCHMARKS.md. Giving an address to one node at a time would help only in that case. It would not make a terrain
// faster than one machine, because the gap is that of the address; but without the hub, and after each change of
// nodes, nobody could request an address until a lease is over, whereas with the rate nodes need no agreement and
// crawl on.
package node
