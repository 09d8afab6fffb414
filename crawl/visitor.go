package crawl

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// visitors make the requests of a crawl and report the outcomes. An open request costs a connection and a stack; all
// further memory for its answer belongs to a parser.
type visitors struct {
	share   *slots.Share        // gets the slot of each step back; nil: slots are not counted
	came    *semaphore.Weighted // answers that have returned their slot and are not yet taken; nil: slots are kept
	clocks  *pace.Clocks        // of addresses; nil: the caller keeps hosts apart
	hosts   pace.Clocks         // of hosts that may have several requests open
	parsers parsers
	member  *member       // nil: the crawl is of a whole terrain
	network *outage.Watch // learns which hosts have open requests; nil: not watched
	flights *flights      // of the crawl; nil: not published
}

// run makes requests until the scheduler closes steps. Every step has an outcome, whatever happens to its request,
// unless the ring ends.
func (v *visitors) run(walking, asking context.Context, steps <-chan ring.Step, outcomes chan<- ring.Outcome) error {
	defer close(outcomes)
	var g errgroup.Group
	for step := range steps {
		g.Go(func() (err error) {
			v.visit(asking, step, func(o ring.Outcome) {
				select {
				case outcomes <- o:
				case <-walking.Done():
					err = walking.Err()
				}
			})
			return err
		})
	}
	return g.Wait()
}

// visit makes one request or look-up, and passes on its outcome. It keeps the parser until the
// outcome has been taken; otherwise large pages would pile up faster than they are recorded. An
// answer that has arrived returns its slot, if came permits it: memory must not hold more answers
// than can soon be recorded.
func (v *visitors) visit(ctx context.Context, step ring.Step, pass func(ring.Outcome)) {
	give := v.slot(step.Standing)
	defer give()
	step.Sent = time.Now() // the scheduler may have offered it for a while
	switch step.Kind {
	case ring.Resolve:
		pass(v.resolve(ctx, step))
		return
	case ring.Render:
		v.render(ctx, step, pass)
		return
	}
	if step.Entrusted() {
		v.entrust(ctx, step, pass)
		return
	}
	at, moved, err := elsewhere(ctx, step)
	switch {
	case err != nil:
		pass(unfound(step, err))
		return
	case moved && v.clocks != nil:
		pass(move(step, at))
		return
	case !v.member.ready(ctx):
		pass(unfound(step, &fetch.Error{Cause: fetch.Cancelled, Op: "ask", URL: step.URL, Err: ErrLease}))
		return
	case !v.inTurn(ctx, &step):
		pass(move(step, step.Address))
		return
	}
	step.Sent = time.Now() // the look-up may have waited for its turn
	o, resp := v.ask(ctx, step, at)
	if v.came != nil && v.came.TryAcquire(1) {
		defer v.came.Release(1)
		give()
	}
	if resp != nil {
		defer resp.Release()
	}
	if !o.Answered() || o.Moved {
		pass(o)
		return
	}
	p := v.parse(ctx, &o, resp)
	pass(o)
	if p != nil {
		v.parsers <- p
	}
}

// slot returns a function that gives a slot back; only its first call counts.
func (v *visitors) slot(standing slots.Standing) (give func()) {
	if v.share == nil {
		return func() {}
	}
	return sync.OnceFunc(func() { v.share.Give(standing) })
}

// entrust delegates a step to another shard, and passes on its report.
func (v *visitors) entrust(ctx context.Context, step ring.Step, pass func(ring.Outcome)) {
	o, free := v.member.send(ctx, step)
	defer free()
	if o.Answer != nil {
		if err := o.Hold(ctx); err != nil {
			cancelled(&o, err)
		}
	}
	pass(o)
}

// unfound returns the outcome of a step whose host could not be looked up. Its request is not sent:
// it would look the host up again within the server's time, and the cause of the failure would be
// lost.
func unfound(step ring.Step, err error) ring.Outcome {
	now := time.Now()
	o := ring.Outcome{Step: step, FirstByte: now, Done: now, RetryAfter: -1, Length: -1}
	fail(&o, err)
	return o
}

// ask makes one request; the body is not decoded. next is the address to try if this one does not answer.
func (v *visitors) ask(ctx context.Context, step ring.Step, next string) (ring.Outcome, *fetch.Response) {
	s := step.Settings
	o := ring.Outcome{Step: step, Next: next, RetryAfter: -1, Length: -1}
	if v.network != nil {
		defer v.network.Asked(siteOf(&step), time.Now())()
	}
	if v.flights != nil {
		defer v.flights.begin(&step, step.Sent)()
	}
	resp, err := s.Client.Do(ctx, fetch.Request{
		Method:       step.Kind.Method(),
		URL:          step.URL,
		ETag:         step.ETag,
		LastModified: step.Modified,
		Timeout:      step.Timeout,
		Header:       headerOf(step),
		Accept:       limit(step),
		Address:      step.Address,
		MayAsk:       v.mayAsk(step),
		MaySend:      v.member.maySend,
		Stay:         step.Moves >= maxMoves,
		Cut:          step.Kind == ring.Robots || step.URLKind == schema.KindSitemap, // read as far as the limit
	})
	var busy *fetch.Busy
	if errors.As(err, &busy) {
		return move(step, busy.Address.String()), nil
	}
	if err != nil {
		fail(&o, err)
	}
	if resp != nil {
		answer(&o, resp)
	}
	end(&o)
	if unheard(&o) {
		o.Address = next
	}
	if o.Own == fetch.OwnNothing && deaf(ctx, &o) {
		o.Own = fetch.OwnResolver
	}
	return o, resp
}

// end sets the times that an outcome without a complete answer lacks.
func end(o *ring.Outcome) {
	if o.FirstByte.IsZero() {
		o.FirstByte = time.Now()
	}
	if o.Done.Before(o.FirstByte) {
		o.Done = o.FirstByte
	}
}

// parse extracts what an answer contains. It returns the parser it used, if any, which the caller must give back.
func (v *visitors) parse(ctx context.Context, o *ring.Outcome, resp *fetch.Response) *parser {
	for {
		p, err := v.parsers.take(ctx)
		if err == nil {
			err = p.decode(o, resp)
		}
		switch {
		case p == nil:
			cancelled(o, err)
			return nil
		case errors.Is(err, fetch.ErrCrowded):
			v.parsers <- p
			if err := resp.Reserve(ctx); err != nil {
				cancelled(o, err)
				return nil
			}
			continue
		case err != nil:
			fail(o, err)
		default:
			p.read(o, resp)
			p.park(o, resp)
			p.hold(ctx, o, resp, nil)
		}
		return p
	}
}

// cancelled makes an outcome that of a request that was not sent.
func cancelled(o *ring.Outcome, err error) {
	*o = ring.Outcome{
		Step: o.Step, Address: o.Address, FirstByte: o.FirstByte, Done: o.Done, RetryAfter: -1, Length: -1,
		Cause: fetch.Cancelled, Detail: schema.Clean(err.Error(), 256),
	}
}

// limit returns a function that decides from the headers how much of a body may be read.
func limit(step ring.Step) func(int, http.Header) int64 {
	s := step.Settings
	return func(status int, header http.Header) int64 {
		switch {
		case (step.Kind == ring.Get || step.Kind == ring.Robots) && mayBeWall(status, header):
			return maxWall
		case status < 200 || status > 299 || step.Kind == ring.Head:
			return 0
		case step.Kind == ring.Asset:
			return s.Config.Content.MaxResponseBytes
		case step.Kind == ring.Robots:
			return robots.MaxBytes
		case step.URLKind == schema.KindSitemap:
			return sitemap.DefaultLimits().Bytes
		case !s.Accepts(header.Get("Content-Type")) && !s.ReadsOPML(header.Get("Content-Type")):
			return 0
		}
		return s.Config.Content.MaxResponseBytes
	}
}

// maxWall is how much of an error is read, to see whether it is a wall.
const maxWall = 64 << 10

// mayBeWall reports whether an error may be a wall that only its body shows.
func mayBeWall(status int, header http.Header) bool {
	declared := media.Extract(header.Get("Content-Type"))
	return status >= 400 && (declared.IsHTML() || declared.Essence == "")
}

func fail(o *ring.Outcome, err error) {
	o.Cause, o.Detail = fetch.BadResponse, schema.Clean(fetch.WithoutPlaces(err.Error()), 256)
	var e *fetch.Error
	if errors.As(err, &e) {
		o.Cause, o.Detail, o.Stale, o.Own = e.Cause, schema.Clean(e.Reason().Detail, 256), e.Stale, e.Own
		o.TLS = e.TLS
	}
}

// answer copies what the headers say into an outcome.
func answer(o *ring.Outcome, resp *fetch.Response) {
	o.Status, o.FirstByte, o.Done, o.Waited = resp.Status, resp.FirstByte, resp.Done, resp.Waited
	o.Protocols = resp.Protocols()
	if a := resp.Remote.Addr(); a.IsValid() {
		o.Address = a.Unmap().String()
	}
	get := func(name string, max int) string { return schema.Clean(resp.Header.Get(name), max) }
	o.ContentType = contentType(resp.Header.Get("Content-Type"))
	o.LastModified = get("Last-Modified", 64)
	o.ETag = exact(resp.Header.Get("ETag"), 256)
	o.Date = get("Date", 64)
	o.Fresh = resp.Fresh()
	if o.Status == http.StatusPaymentRequired {
		o.Price = get("Crawler-Price", 64)
	}
	o.RetryAfter = resp.RetryAfter() // a suspension is counted from there
}

// contentType returns a Content-Type, cleaned; of a long one only the essential part.
func contentType(declared string) string {
	const longest = 128
	if len(declared) > longest {
		declared = media.Extract(declared).String()
	}
	return schema.Clean(declared, longest)
}

// exact returns a value that must be sent back unchanged; empty if it is too long or has unsafe characters.
func exact(s string, max int) string {
	if len(s) > max || schema.Clean(s, max) != s {
		return ""
	}
	return s
}
