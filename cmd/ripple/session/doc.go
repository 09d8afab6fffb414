// Package session is a running crawl: it is estimated, begun, watched, controlled and finished here.
//
// A session is the work of one process on a run. It crawls one or more state files, each as a [Shard]:
//
//   - a [walk] has one file, with the whole terrain. It opens the file, and writes the outputs at the end;
//   - a [nodeView] has those shards of a terrain of several machines that this machine holds. Package node opens their
//     files and crawls them.
//
// Each file that is open answers other commands at its control socket: from its shard while it is crawled, and with
// copies of its state at any time.
//
// The desk and the figures of a terrain of several machines belong to this package too.
package session
