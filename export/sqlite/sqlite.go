package sqlite

import (
	"context"
	"encoding/binary"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// ApplicationID is the application id in the header of a database that Ripple
// wrote: "RIPL".
const ApplicationID = 0x5249504c

// Options say how a database is written.
type Options struct {
	Check bool // have SQLite check the database before it takes its name
	Force bool // replace a file that Ripple did not write

	NoMetrics bool           // leave the tables of metrics empty, which take time
	Counted   export.Counted // links that metrics are made of

	Progress export.Progress // nil: nobody is told

	Columns *export.Columns // the figures of nodes and links; nil: [export.AllColumns]
}

// Write writes a survey to a database file. The file that has the name is
// replaced whole, or not at all: then the error says why, and nothing is left
// behind. It fails with [whole.ErrForeign] before anything is written.
func Write(ctx context.Context, path string, s *survey.Survey, opts Options) error {
	if err := whole.CheckFile(path, opts.Force, IsOurs); err != nil {
		return err
	}
	if opts.Columns == nil {
		opts.Columns = export.AllColumns()
	}
	return whole.File(path, func(temporary string) error { return build(ctx, temporary, s, opts) })
}

// IsOurs reports whether the beginning of a file is that of a database that
// Ripple wrote (https://www.sqlite.org/fileformat2.html).
func IsOurs(head []byte) bool {
	return len(head) >= 72 && string(head[:16]) == "SQLite format 3\x00" &&
		binary.BigEndian.Uint32(head[68:]) == ApplicationID
}
