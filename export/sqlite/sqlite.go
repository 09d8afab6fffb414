package sqlite

import (
	"context"
	"encoding/binary"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// ApplicationID is the application id in the header of databases written by Ripple: "RIPL".
const ApplicationID = 0x5249504c

// Options control how a database is written.
type Options struct {
	Check bool // check the database with SQLite before it is published
	Force bool // replace a file that Ripple did not write

	NoMetrics bool           // leave the metric tables empty, because they take time
	Counted   export.Counted // links used for metrics

	Progress export.Progress // nil: no progress is reported

	Columns *export.Columns // the figures of nodes and links; nil: [export.AllColumns]
}

// Write writes a survey to a database file. An existing file is replaced as a whole, or not at all if
// Write returns an error; then nothing is left behind. It fails with [atomicfile.ErrForeign] before anything
// is written.
func Write(ctx context.Context, path string, s *survey.Survey, opts Options) error {
	if err := atomicfile.CheckFile(path, opts.Force, IsOurs); err != nil {
		return err
	}
	if opts.Columns == nil {
		opts.Columns = export.AllColumns()
	}
	return atomicfile.File(path, func(temporary string) error { return build(ctx, temporary, s, opts) })
}

// IsOurs reports whether a file with this beginning is a database written by Ripple
// (https://www.sqlite.org/fileformat2.html).
func IsOurs(head []byte) bool {
	return len(head) >= 72 && string(head[:16]) == "SQLite format 3\x00" &&
		binary.BigEndian.Uint32(head[68:]) == ApplicationID
}
