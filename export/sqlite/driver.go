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

// moduleName is the name of the module of virtual tables, and of the function within
// which statements run.
const (
	moduleName   = "ripple"
	functionName = "ripple_run"
)

// served is the server of the process. What is registered with a driver it keeps until the
// process ends, so there is one driver with one module and one function, and a connection
// says by a number which database it is of. Numbers are forgotten when databases are
// closed. Beside it, memory, files and running are the only mutable state of the package:
// what SQLite takes of a process cannot be told apart by its users.
var served = sync.OnceValues(newServer)

// A server knows the databases that are open.
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

// add gives a database its number.
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

// A module makes the tables of the databases of a server.
type module struct{ *server }

// Create makes a virtual table, whose arguments are the number of its database and its
// name there.
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

// Connect does what Create does.
func (m module) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(ctx, args)
}

// run is the function within which a statement runs.
func (s *server) run(_ *sqlite.FunctionContext, args []driver.Value) (value driver.Value, err error) {
	number, _ := args[0].(int64)
	d, err := s.find(number)
	if err != nil {
		return nil, err
	}
	defer d.rescue(&err)
	return nil, d.run()
}

// A statements is those that run in this process.
type statements struct {
	mu   sync.Mutex
	last int
	ends map[int]context.CancelCauseFunc
}

var running = &statements{ends: map[int]context.CancelCauseFunc{}}

// begin notes a statement until over is called. Meanwhile, end may end it.
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

// end ends all statements.
func (s *statements) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, end := range s.ends {
		end(why)
	}
}
