package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"sync"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vtab"
)

// moduleName is the name of the module of virtual tables; functionName is that of the function in which
// statements run.
const (
	moduleName   = "ripple"
	functionName = "ripple_run"
)

// served returns the server of the process. A driver keeps everything registered with it until the
// process ends. So there is one driver with one module and one function, and a connection names its
// database by a number. Numbers are removed when databases are closed. The only mutable state of
// the package is this, memory, files and running: the resources that SQLite takes from a process
// cannot be attributed to its users.
var served = sync.OnceValues(newServer)

// A server holds the open databases.
type server struct {
	driver *sqlite.Driver

	mu   sync.Mutex
	last int64
	open map[int64]*DB
}

func newServer() (*server, error) {
	if err := cmp.Or(uncounted, registerFiles()); err != nil {
		return nil, err
	}
	memory.most.Store(maxHeap)
	s := &server{driver: &sqlite.Driver{}, open: make(map[int64]*DB)}
	if err := s.driver.RegisterModule(moduleName, module{s}); err != nil {
		return nil, err
	}
	return s, s.driver.RegisterScalarFunction(functionName, 1, s.run)
}

// Connect opens an empty database in memory.
func (s *server) Connect(context.Context) (driver.Conn, error) {
	return s.driver.Open("file::memory:?_defensive=1&vfs=" + boundedFiles)
}

// Driver returns the driver.
func (s *server) Driver() driver.Driver { return s.driver }

// add assigns a number to a database.
func (s *server) add(d *DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	d.number = s.last
	s.open[d.number] = d
}

func (s *server) remove(d *DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, d.number)
}

func (s *server) find(number int64) (*DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[number]; d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("no database %d is open", number)
}

// A module creates the virtual tables of a server's databases.
type module struct{ *server }

// Create creates a virtual table. Its arguments are the number of the database and the name of the
// table.
func (m module) Create(ctx vtab.Context, args []string) (vtab.Table, error) {
	if len(args) != 5 {
		return nil, fmt.Errorf("a table takes 2 arguments, not %d", len(args)-3)
	}
	number, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return nil, err
	}
	d, err := m.find(number)
	if err != nil {
		return nil, err
	}
	for _, t := range d.tables {
		if t.title() == args[4] {
			return t, ctx.Declare(t.declaration())
		}
	}
	return nil, fmt.Errorf("there is no table %s", args[4])
}

// Connect is the same as Create.
func (m module) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(ctx, args)
}

// run is the SQL function in which a statement runs.
func (s *server) run(_ *sqlite.FunctionContext, args []driver.Value) (value driver.Value, err error) {
	number, _ := args[0].(int64)
	d, err := s.find(number)
	if err != nil {
		return nil, err
	}
	defer d.rescue(&err)
	return nil, d.run()
}

// A statements is the set of running statements in this process.
type statements struct {
	mu   sync.Mutex
	last int
	ends map[int]context.CancelCauseFunc
}

var running = &statements{ends: map[int]context.CancelCauseFunc{}}

// begin registers a statement until over is called. Until then it can be cancelled by end.
func (s *statements) begin(end context.CancelCauseFunc) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	number := s.last
	s.ends[number] = end
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.ends, number)
	}
}

// end cancels all statements.
func (s *statements) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, end := range s.ends {
		end(why)
	}
}
