package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// tellTime is the time limit of a command to the nodes of a terrain.
const tellTime = 15 * time.Second

// A TerrainDesk answers for a terrain of several machines. No machine has the whole map.
type TerrainDesk struct {
	Look  *lookout
	load  func() (*config.Config, error) // reads the current configuration file
	meter *meter.Meter
	merge string // the command that makes the map

	away func(time.Time) string // says that a node has no hub, and what that means; nil: this is no node
}

// A DeskTerrain is the current state of a terrain.
type DeskTerrain struct {
	Mode   string  `json:"mode"`   // terrain
	Status string  `json:"status"` // running, paused, over, interrupted; unknown: nothing was seen yet
	Rate   float64 `json:"pages_per_second"`

	Condition census.Condition `json:"condition"`

	Seen  *time.Time           `json:"seen_at"`       // time of this state; null: nothing was seen yet
	Error string               `json:"error_message"` // why the state is out of date; empty: it is current
	Stats *answer.TerrainStats `json:"terrain"`       // null: nothing was seen yet
	Notes []answer.TerrainNote `json:"notes"`         // what the terrain waits for, and which machine
	Merge string               `json:"unite"`         // the command that makes one map of all shards
}

// A terrainAnswer is the result of a command.
type terrainAnswer struct {
	Message string `json:"message"`
}

// NewTerrainDesk returns the desk of a terrain of several machines.
func NewTerrainDesk(cfg *config.Config, load func() (*config.Config, error)) *TerrainDesk {
	return newTerrainDesk(cfg, load, newMeter())
}

// newTerrainDesk returns a desk that answers scrapes with m.
func newTerrainDesk(cfg *config.Config, load func() (*config.Config, error), m *meter.Meter) *TerrainDesk {
	d := &TerrainDesk{Look: newLookout(cfg.Cluster.Hub, load), load: load, meter: m, merge: mergeCommand(cfg)}
	d.meter.Terrain(d.Look.metrics)
	return d
}

// mergeCommand returns the command that makes one map of all shards.
func mergeCommand(cfg *config.Config) string {
	return "ripple merge " + term.Shown(cfg.Cluster.Folder) + " ... -o terrain.bolt"
}

// Listen opens the desk, which shows that its address is free.
func (d *TerrainDesk) Listen(log *slog.Logger, m config.Monitor) (*desk.Desk, error) {
	opened, err := desk.Listen(desk.Options{
		Monitor: m, Routes: d.routes(), Live: d, Reader: &desk.Reader{},
		Metrics: d.Metrics, Version: term.ThisBuild().Version, Log: log,
	})
	if err != nil {
		return nil, term.Usage("%v", err)
	}
	return opened, nil
}

// Serve answers at a desk until ctx is done.
func (d *TerrainDesk) Serve(ctx context.Context, at *desk.Desk) error {
	looking, stop := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return d.Look.Follow(looking) })
	err := at.Serve(ctx) // it sends the last state before it ends
	stop()
	return errors.Join(err, g.Wait())
}

// routes returns the questions about the terrain, and the commands to it.
func (d *TerrainDesk) routes() []desk.Route {
	all := []desk.Route{
		{Name: "status", Method: http.MethodGet, Path: "status", Returns: DeskTerrain{},
			Answer: func(ctx context.Context, _ desk.Query) (any, error) { return d.Now(ctx), nil },
			Doc:    "What goes on in the terrain, and what waits for whom."},
		{Name: "terrain", Method: http.MethodGet, Path: "terrain", Returns: answer.TerrainStats{}, Answer: d.Stats,
			Doc: "The shards of the terrain, as \"ripple stats --json\" prints them."},
	}
	for name, doc := range map[string]string{
		"pause":   "Have no machine send a further request.",
		"unpause": "Have all machines go on.",
		"stop":    "Have all machines stop that work on a shard; they can be started again.",
		"reload": "Have the terrain follow the configuration of this machine, " +
			"each machine when its own file says the same.",
	} {
		all = append(all, desk.Route{Name: name, Method: http.MethodPost,
			Path: name, Doc: doc, Returns: terrainAnswer{},
			Answer: func(ctx context.Context, _ desk.Query) (any, error) { return d.Tell(ctx, name) }})
	}
	return all
}

// Now returns the current state of the terrain.
func (d *TerrainDesk) Now(ctx context.Context) DeskTerrain {
	seen := d.Look.now(ctx)
	t := DeskTerrain{Mode: "terrain", Status: "unknown", Stats: seen.stats, Notes: []answer.TerrainNote{}, Merge: d.merge}
	switch {
	case seen.err != nil:
		t.Error = d.lookError(seen.err)
	case seen.stats == nil:
		t.Error = "the terrain is being looked at"
	}
	away := t.Error
	if seen.err == nil {
		away = ""
	}
	t.Condition = answer.ConditionOfTerrain(seen.stats, away, seen.at)
	if seen.stats == nil {
		return t
	}
	switch t.Status = "running"; {
	case seen.stats.Over:
		t.Status = answer.ShardOver
	case len(seen.stats.Without) > 0:
		t.Status = schema.RunInterrupted.String()
	case seen.stats.Paused:
		t.Status = "paused"
	}
	t.Seen, t.Notes = &seen.at, seen.stats.Notes(time.Now())
	for _, one := range seen.stats.Shards {
		if one.Status != nil && t.Condition.Fetches {
			t.Rate += one.Status.PagesPerSecond
		}
	}
	return t
}

// lookError returns in one line why a look at a terrain failed.
func (d *TerrainDesk) lookError(err error) string {
	if since := d.Look.away(); !since.IsZero() {
		now := time.Now()
		if d.away != nil {
			return d.away(now)
		}
		return noHub(now.Sub(since))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "the hub does not answer"
	}
	return term.Clean(err.Error(), 200)
}

func (d *TerrainDesk) Stats(ctx context.Context, _ desk.Query) (any, error) {
	seen := d.Look.now(ctx)
	switch {
	case seen.err != nil:
		return nil, &control.Error{Code: http.StatusServiceUnavailable, Text: d.lookError(seen.err)}
	case seen.stats == nil:
		return nil, &control.Error{Code: http.StatusServiceUnavailable,
			Text: "the terrain is being looked at; ask again"}
	}
	return seen.stats, nil
}

// Tell sends a command to all machines.
func (d *TerrainDesk) Tell(ctx context.Context, what string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	done, err := TellTerrain(ctx, d.Look.Conn, what, d.load)
	var lines []string
	for _, r := range done {
		lines = append(lines, r.Text)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &control.Error{Code: http.StatusServiceUnavailable, Text: "the hub does not answer"}
	case err != nil:
		lines = append(lines, strings.TrimPrefix(term.Complaint(err), "ripple: "))
		return nil, &control.Error{Code: http.StatusConflict, Text: strings.Join(lines, "; ")}
	}
	return terrainAnswer{strings.Join(lines, "; ")}, nil
}

// Status implements [desk.Live]. There are no visits: each is in the file of a shard.
func (d *TerrainDesk) Status(ctx context.Context) (status any, runs bool, err error) {
	return d.Now(ctx), false, nil
}

// Feed implements [desk.Live].
func (d *TerrainDesk) Feed(context.Context, uint64) (*feed.Batch, error) { return noVisits(), nil }

// Last implements [desk.Live].
func (d *TerrainDesk) Last(context.Context, uint64, uint64) (*feed.Batch, error) {
	return noVisits(), nil
}

func noVisits() *feed.Batch { return &feed.Batch{Lines: []json.RawMessage{}} }

// Metrics returns the metrics of the terrain, and of the crawls of this process if there are any.
func (d *TerrainDesk) Metrics(ctx context.Context) ([]byte, error) {
	a := serve.HeldAnswer{Headers: http.Header{}, Code: http.StatusOK}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	d.meter.Handler().ServeHTTP(&a, r)
	if a.Code != http.StatusOK {
		return nil, &control.Error{Code: a.Code, Text: strings.TrimSpace(a.Body.String())}
	}
	return a.Body.Bytes(), nil
}
