package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vtab"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// A DB is a survey as a database for queries. It has the tables that [Write] writes, with the same
// columns and rows. Nothing is copied: a statement reads the rows it needs. Data derived for one
// statement is kept for the next.
//
// A DB belongs to the goroutine of its survey, and the store must not change while it is open. A
// process can have many DBs of different surveys.
type DB struct {
	survey  *survey.Survey
	columns *export.Columns
	counted export.Counted
	server  *server
	number  int64   // identifies it to the server
	pool    *sql.DB // with one connection
	conn    *sql.Conn
	tables  []virtual
	derived

	// State of the running statement:
	ctx      context.Context
	text     string
	answer   Answer
	inner    driver.QueryerContext // the connection
	inside   bool                  // the statement itself is running, not the one around it
	collates bool                  // it may compare texts other than byte by byte
	failed   error                 // an error in a table
}

// A virtual is a table whose rows are created while they are read.
type virtual interface {
	vtab.Table
	title() string
	declaration() string
}

// An Answer receives an answer. It is called with the names of the columns and returns a function that
// is called for each row. The row is valid only during that call, which returns whether more rows are
// wanted.
type Answer func(columns []string) (row func(values []any) (more bool, err error), err error)

// Open opens a survey as a database.
func Open(s *survey.Survey) (*DB, error) {
	server, err := served()
	if err != nil {
		return nil, err
	}
	d := &DB{survey: s, columns: export.AllColumns(), server: server}
	d.derived = newDerived(d)
	d.tables = newTables(d)
	server.add(d)
	if err := d.connect(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Count sets which links the metric tables use; the default is endorsements. It must be called before
// the first statement needs them.
func (d *DB) Count(counted export.Counted) { d.counted = counted }

// setup returns the pragmas of a new database. Sorting uses unnamed temporary files when it exceeds the
// cache.
func setup() []string { return []string{"temp_store = 1", "cache_size = -32768", "trusted_schema = 0"} }

func (d *DB) connect() (err error) {
	d.pool = sql.OpenDB(d.server)
	if d.conn, err = d.pool.Conn(context.Background()); err != nil {
		return err
	}
	for _, s := range setup() {
		if err := d.exec(context.Background(), "PRAGMA "+s); err != nil {
			return err
		}
	}
	for _, t := range d.tables {
		text := fmt.Sprintf("CREATE VIRTUAL TABLE %s USING %s(%d, %[1]s)", t.title(), moduleName, d.number)
		if err := d.exec(context.Background(), text); err != nil {
			return err
		}
	}
	return d.conn.Raw(func(conn any) error {
		return conn.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(d.authorize)
	})
}

func (d *DB) exec(ctx context.Context, text string) error {
	return d.conn.Raw(func(conn any) error {
		d.inner = conn.(driver.QueryerContext)
		_, err := conn.(driver.ExecerContext).ExecContext(ctx, text, nil)
		return err
	})
}

// Close closes the database, but not its survey.
func (d *DB) Close() error {
	d.server.remove(d)
	var err error
	if d.conn != nil {
		err = d.conn.Close()
	}
	return errors.Join(err, d.pool.Close())
}

// authorize allows statements to read, and to query the columns of a table. It denies everything else.
func (d *DB) authorize(action sqlite.AuthorizerActionCode, first, second, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		name := strings.ToLower(second)
		if name == functionName && d.inside || name == "load_extension" {
			return sqlite.AuthorizerDeny
		}
		return sqlite.AuthorizerOK
	case sqlite.AuthPragma:
		if strings.HasPrefix(strings.ToLower(first), "table_") && d.inside {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// Query runs one reading statement and passes the rows to answer. It fails with the cause of ctx soon
// after ctx is done, with [ErrMemory], with an error of the survey, or with a [*StatementError]. If
// SQLite exceeds the memory limit, all running statements of the process fail.
func (d *DB) Query(ctx context.Context, text string, answer Answer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer running.begin(cancel)()
	d.ctx, d.text, d.answer, d.failed = ctx, text, answer, nil
	d.collates = strings.Contains(strings.ToLower(text), "collate")
	defer func() { d.ctx, d.answer = nil, nil }()
	err := d.survey.Hold(ctx, func() error {
		// The driver only cancels a statement until its first row. The outer statement has no row until
		// the inner one, which is the user's and runs within it, has ended.
		err := d.exec(ctx, fmt.Sprintf("SELECT %s(%d)", functionName, d.number))
		return cmp.Or(context.Cause(ctx), d.failed, err)
	})
	return statementError(err)
}

// A StatementError is SQLite's error for an invalid statement.
type StatementError struct{ Text string }

func (e *StatementError) Error() string { return e.Text }

// statementError turns SQLite's errors about the statement into a [*StatementError].
func statementError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	text := strings.TrimPrefix(e.Error(), "SQL logic error: ")
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.Trim(text[i:], " (0123456789)") == "" { // the error number
		text = text[:i]
	}
	switch e.Code() & 0xff {
	case nomem, interrupted, ioerr, full:
		return errors.New(text)
	}
	return &StatementError{text}
}

// Result codes that do not mean that the statement is wrong (https://www.sqlite.org/rescode.html).
const (
	nomem       = 7
	interrupted = 9
	ioerr       = 10
	full        = 13
)

// run runs the inner statement.
func (d *DB) run() error {
	d.inside = true
	defer func() { d.inside = false }()
	rows, err := d.inner.QueryContext(context.Background(), d.text, nil)
	if err != nil && d.failed == nil && !errors.As(err, new(*sqlite.Error)) { // from the driver, about "?"
		return &StatementError{"there is no value for a parameter: " + err.Error()}
	}
	if err != nil {
		return err
	}
	return errors.Join(d.deliver(rows), rows.Close())
}

func (d *DB) deliver(rows driver.Rows) error {
	row, err := d.answer(rows.Columns())
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	plain := make([]any, len(values))
	for {
		if err := rows.Next(values); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		size := 0
		for i, v := range values {
			plain[i] = v
			size += sizeOf(v)
		}
		if size > maxRow {
			return tooMuch(maxRow, " in a row")
		}
		if more, err := row(plain); err != nil || !more {
			return err
		}
	}
}

// sizeOf returns how many bytes a value takes in addition to a word.
func sizeOf(v driver.Value) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}

// rescue turns a panic, which must not pass through SQLite, into an error. It also keeps the first
// error of a statement, because SQLite converts errors to texts.
func (d *DB) rescue(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("read the tables: panic: %v", v)
	}
	if *err != nil && d.failed == nil {
		d.failed = *err
	}
}
