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

// A DB is a survey as a database that can be asked. Its tables are those that [Write]
// writes, with the same columns and rows; nothing is copied, and what a statement needs is
// read while it runs. What is derived for one statement is kept for the next.
//
// A DB belongs to the goroutine of its survey, and the store must not change while it is
// open. There can be many at a time in a process, of different surveys.
type DB struct {
	survey  *survey.Survey
	columns *export.Columns
	counted export.Counted
	server  *server
	number  int64   // by which the server knows it
	pool    *sql.DB // of one connection
	conn    *sql.Conn
	tables  []virtual
	derived

	// Of the statement that is running:
	ctx      context.Context
	text     string
	answer   Answer
	inner    driver.QueryerContext // the connection
	inside   bool                  // the statement itself, and not what it runs within
	collates bool                  // it may compare texts otherwise than byte by byte
	failed   error                 // what went wrong in a table
}

// A virtual is a table whose rows are made while they are read.
type virtual interface {
	vtab.Table
	title() string
	declaration() string
}

// An Answer takes the rows of an answer: first it is given the names of the columns, then
// what it returned is given one row after the other, which is valid until it returns. It
// says whether it wants more.
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

// Count says which links the tables of metrics are made of, before the first statement asks for
// them; else it is endorsements.
func (d *DB) Count(counted export.Counted) { d.counted = counted }

// setup are the pragmas of a database that is opened. What sorting takes beyond the cache
// goes to temporary files, which have no names.
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

// Close closes the database, but not what it is of.
func (d *DB) Close() error {
	d.server.remove(d)
	var err error
	if d.conn != nil {
		err = d.conn.Close()
	}
	return errors.Join(err, d.pool.Close())
}

// authorize lets statements read. They may ask for the columns of a table; nothing else
// that is no part of a query is for them.
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

// Query runs one statement that reads, and hands the answer over row by row. It fails
// with the cause of ctx soon after that is done, with [ErrMemory], with what went wrong in
// the survey, and with what SQLite says of the statement. When SQLite has taken too much
// memory, all statements that run in the process fail.
func (d *DB) Query(ctx context.Context, text string, answer Answer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer running.begin(cancel)()
	d.ctx, d.text, d.answer, d.failed = ctx, text, answer, nil
	d.collates = strings.Contains(strings.ToLower(text), "collate")
	defer func() { d.ctx, d.answer = nil, nil }()
	err := d.survey.Hold(ctx, func() error {
		// What ends when ctx is done is a statement until its first row. This one has none
		// until the other, which is what is asked and runs within it, has ended.
		err := d.exec(ctx, fmt.Sprintf("SELECT %s(%d)", functionName, d.number))
		return cmp.Or(context.Cause(ctx), d.failed, err)
	})
	return statementError(err)
}

// A StatementError is what SQLite says of a statement.
type StatementError struct{ Text string }

func (e *StatementError) Error() string { return e.Text }

// statementError tells what is wrong with a statement from what has gone wrong with it.
func statementError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	text := strings.TrimPrefix(e.Error(), "SQL logic error: ")
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.Trim(text[i:], " (0123456789)") == "" { // SQLite's number
		text = text[:i]
	}
	switch e.Code() & 0xff {
	case nomem, interrupted, ioerr, full:
		return errors.New(text)
	}
	return &StatementError{text}
}

// What goes wrong with a statement that may be right (https://www.sqlite.org/rescode.html).
const (
	nomem       = 7
	interrupted = 9
	ioerr       = 10
	full        = 13
)

// run runs the statement.
func (d *DB) run() error {
	d.inside = true
	defer func() { d.inside = false }()
	rows, err := d.inner.QueryContext(context.Background(), d.text, nil)
	if err != nil && d.failed == nil && !errors.As(err, new(*sqlite.Error)) { // it is the driver's, of "?"
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

// sizeOf is how many bytes a value takes beside a word.
func sizeOf(v driver.Value) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}

// rescue makes an error of a panic, which must not go through SQLite, and keeps the first
// error of a statement as it is: SQLite makes texts of them.
func (d *DB) rescue(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("read the tables: panic: %v", v)
	}
	if *err != nil && d.failed == nil {
		d.failed = *err
	}
}
