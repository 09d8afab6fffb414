package serve

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	maxName = 2048    // of the host in a question, in bytes
	maxURL  = 1 << 16 // of the page in a question; [url] max-length allows as much
	maxRows = 100_000
)

// A question is about a terrain, or is a command to its crawl. At the desk the running crawl
// answers it, if crawl is set. If no crawl is running, or crawl is nil, the process that reads the
// state answers it or, if state is nil, the desk itself. The default of Method is GET.
type question struct {
	desk.Route
	crawl func(Crawl, context.Context, desk.Query) (any, error)
	state func(*opened, context.Context, desk.Query) (any, error)
	desk  func(*deskSide, context.Context, desk.Query) (any, error)
	inner []desk.Param // parameters that only the control socket takes
}

// questions returns the table from which the control socket of a crawl, the process that reads a
// state, and the desk with its openapi.json are made. The answers are those of the commands with
// --json.
func questions() []question {
	all := slices.Concat(crawlQuestions(), stateQuestions(), runQuestions(), deskQuestions())
	for i := range all {
		all[i].Method = cmp.Or(all[i].Method, http.MethodGet)
	}
	return all
}

// crawlQuestions returns the questions about the crawl that may be running, and the commands to it.
func crawlQuestions() []question {
	return []question{
		{Route: desk.Route{Path: "status", Name: "status", Returns: DeskStatus{},
			Doc: "What the crawl does now, and why nothing is being fetched. If no crawl is running, mode is \"file\", " +
				"and run_id, status (completed or interrupted; running: shards in a folder are being crawled) and counts " +
				"are those of the newest run; \"unknown\": the file cannot be read."},
			crawl: crawlStatusNow, desk: (*deskSide).idleStatus,
			inner: []desk.Param{{Name: "latest", Kind: desk.Flag, Doc: "the last known one"}}},
		{Route: desk.Route{Path: "fetching", Name: "fetching", Returns: answer.Fetching{},
			Doc: "The requests of the running crawl that are open now, the oldest first; none if no crawl is running."},
			crawl: func(c Crawl, ctx context.Context, _ desk.Query) (any, error) { return c.Fetching(ctx) },
			desk:  (*deskSide).idleFetching},
		command("pause", "Pause the crawl: it sends no further requests.", Crawl.Pause),
		command("unpause", "Resume a paused crawl.", Crawl.Unpause),
		command("stop", "End the crawl; it can be resumed.", Crawl.Stop),
		command("reload", "Have the crawl read its configuration again.", Crawl.Reload),
	}
}

const placeDoc = "who links there, and the busiest pages of a host, by links in this place alone; text: endorsements"

func duplicateParams(rows desk.Param) []desk.Param {
	return []desk.Param{rows, {Name: "domain", Kind: desk.Text, Most: maxName,
		Doc: "with a page of this host, and of that its pages alone"}}
}

// stateQuestions returns the questions about what is known of the terrain. A running crawl can
// answer some from memory, as it can those of runQuestions.
func stateQuestions() []question {
	rows := desk.Param{Name: "limit", Kind: desk.Number, Default: 20, Most: maxRows, Doc: "rows of each list at most"}
	host := desk.Param{Name: "domain", Kind: desk.Text, Required: true, Most: maxName, Doc: "a host"}
	page := desk.Param{Name: "url", Kind: desk.Text, Required: true, Most: maxURL, Doc: "a page"}
	place := desk.Param{Name: "place", Kind: desk.Text, Words: answer.Places(), Doc: placeDoc}
	return []question{
		{Route: desk.Route{Path: "stats", Name: "stats", Params: []desk.Param{rows}, Returns: answer.Stats{},
			Doc: "Pages by state, class and depth, and the hosts that take longest."},
			state: (*opened).answerStats},
		{Route: desk.Route{Path: "origins", Name: "origins", Returns: answer.OriginList{},
			Doc: "Progress with the origins, slowest first, at most 1,000. During a crawl it comes from memory, " +
				"and is one second old per 10,000 hosts."},
			crawl: func(c Crawl, ctx context.Context, _ desk.Query) (any, error) { return c.Origins(ctx) },
			state: (*opened).answerOrigins},
		{Route: desk.Route{Path: "hosts", Name: "hosts", Params: hostParams(), Returns: HostPage{},
			Doc: "Some of the hosts that match, in an order."},
			state: (*opened).answerHosts},
		{Route: desk.Route{Path: "hosts/{domain}", Name: "host", Params: []desk.Param{host, rows, place},
			Returns: answer.Host{},
			Doc:     "Everything known about a host."},
			state: (*opened).answerHost},
		{Route: desk.Route{Path: "hosts/{domain}/requests", Name: "requests", Params: []desk.Param{host},
			Returns: answer.RequestList{},
			Doc: "The last 100 requests to a host, newest first, with the delay promised and the delay kept before " +
				"each. If no crawl is running: its visits."},
			crawl: crawlRequests, state: (*opened).answerRequests},
		{Route: desk.Route{Path: "pages", Name: "page", Params: []desk.Param{page, rows, place}, Returns: answer.Page{},
			Doc: "Everything known about a page."},
			state: (*opened).answerPage},
		{Route: desk.Route{Path: "pages/list", Name: "pages", Params: pageParams(), Returns: PageList{},
			Doc: "Some of the pages that match, in an order. Pages that are listed again within 10 minutes are listed " +
				"as they were, if their snapshot is given."},
			state: (*opened).answerPages},
		{Route: desk.Route{Path: "path", Name: "path", Params: []desk.Param{page}, Returns: []answer.OriginPath{},
			Doc: "A shortest path of links from each origin to a page."},
			state: (*opened).answerPath},
		{Route: desk.Route{Path: "suggest", Name: "suggest", Params: suggestParams(rows), Returns: answer.Suggestions{},
			Doc: "Hosts that are on no list, ranked by the origins that link to them."},
			state: (*opened).answerSuggest},
		{Route: desk.Route{Path: "suggest/outside", Name: "suggest outside", Params: suggestParams(rows),
			Returns: answer.Outside{},
			Doc: "Hosts outside the terrain, ranked by the origins that they link to, by the web graph that was read last, " +
				"which is made from a sample of the web."},
			state: (*opened).answerOutside},
		{Route: desk.Route{Path: "broken", Name: "broken",
			Params:  brokenParams("links, and as many to pages that show a wall,", 10_000),
			Returns: []answer.BrokenLink{},
			Doc:     "Links that lead nowhere, by origin, and after them links to pages that show a wall."},
			state: (*opened).answerBroken},
		{Route: desk.Route{Path: "broken/targets", Name: "broken targets",
			Params:  brokenParams("targets, and as many that show a wall,", 1000),
			Returns: answer.BrokenTargets{},
			Doc: "The targets of links that lead nowhere, and the numbers of all these links, however many targets " +
				"are listed. Apart from them pages that show a wall."},
			state: (*opened).answerBrokenTargets},
		{Route: desk.Route{Path: "duplicates", Name: "duplicates", Params: duplicateParams(rows),
			Returns: answer.Duplicates{},
			Doc:     "Clusters of pages whose texts are nearly the same, the largest first; none for an unknown domain."},
			state: (*opened).answerDuplicates},
		{Route: desk.Route{Path: "inlinks", Name: "inlinks", Params: inlinkParams(), Returns: answer.Inlinks{},
			Doc: "Hosts outside the terrain that link to origins, by the web graph that was read last, which is made " +
				"from a sample of the web."},
			state: (*opened).answerInlinks},
	}
}

// runQuestions returns the questions about runs and what they found, and about the whole terrain as a graph and in SQL.
func runQuestions() []question {
	return []question{
		{Route: desk.Route{Path: "runs", Name: "runs", Returns: answer.RunList{}, Doc: "All runs, the newest first."},
			state: (*opened).answerRuns},
		{Route: desk.Route{Path: "history", Name: "history", Params: historyParams(), Returns: answer.History{},
			Doc: "The progress of a run over time: at most 512 points, over the whole run. While it paused, there are none."},
			crawl: func(c Crawl, ctx context.Context, q desk.Query) (any, error) { return c.History(ctx, q.Number("run")) },
			state: (*opened).answerHistory},
		{Route: desk.Route{Path: "feed", Name: "feed", Params: feedParams(), Returns: feed.Batch{},
			Doc: "Visits after a cursor, each once, and the cursor to continue with. \"answer\" says what came instead of " +
				"a page. While a crawl runs, only walls are known (challenge); without one, the last visit of a page " +
				"may say soft404 or parked."},
			crawl: func(c Crawl, ctx context.Context, q desk.Query) (any, error) { return c.Feed(ctx, feedQuery(q)) },
			state: (*opened).answerFeed},
		{Route: desk.Route{Path: "diff", Name: "diff", Params: diffParams(), Returns: map[string]any{},
			Doc: "What came, went and changed between two runs."},
			state: (*opened).answerDiff},
		{Route: desk.Route{Path: "graph", Name: "graph", Params: graphParams(), Returns: map[string]any{},
			Doc: "The hosts with their places, and the links between them, as the HTML map shows them: " +
				"at most 5,000 hosts, the most trusted; with links in the text of pages counted, and under " +
				"\"other\" what is different with all. Of a kind of links that is never in the text, all count first."},
			state: (*opened).answerGraph},
		{Route: desk.Route{Method: http.MethodPost, Path: "query", Name: "query", Body: statement{}, Returns: queryAnswer{},
			Doc: "Ask one read-only SQL statement of the tables of the SQLite export: 30 s, 256 MB of memory, " +
				"1 GB of temporary files, 100,000 rows."},
			state: (*opened).answerQuery},
	}
}

// deskQuestions returns the questions about what the desk itself has.
func deskQuestions() []question {
	return []question{
		{Route: desk.Route{Path: "shown", Name: "shown", Params: shownParams(), Returns: shownNames{},
			Doc: "Display forms of hosts with internationalised names: the name, followed by its Unicode form. " +
				"Hosts without one are left out."},
			desk: answerShown},
		{Route: desk.Route{Path: "decisions", Name: "decisions", Returns: decisionList{},
			Doc: "The decisions about hosts in the file that [decisions] names."},
			desk: (*deskSide).decisions},
		{Route: desk.Route{Method: http.MethodPost, Path: "decisions", Name: "decide", Body: deskDecisions{},
			Returns: decide.Result{},
			Doc: "Decide what a host is, or up to 1,000 hosts, all or none: written to the file that [decisions] " +
				"names, and applied to the map, by the running crawl or as by reclassify. A dry run says what would " +
				"change, and writes nothing. The entries before, sent as decisions with the version, undo it; with " +
				"undo, too, they restore the file byte for byte."},
			desk: (*deskSide).decide},
	}
}

// Default returns the default of a numeric parameter of a question. The flag of the command with
// the same answer uses it too.
func Default(name, param string) int {
	all := questions()
	q := &all[slices.IndexFunc(all, func(q question) bool { return q.Name == name })]
	return q.Params[slices.IndexFunc(q.Params, func(p desk.Param) bool { return p.Name == param })].Default
}

// command declares a command to the running crawl.
func command(name, doc string, obey func(Crawl, context.Context) (census.Status, error)) question {
	return question{
		Route: desk.Route{Method: http.MethodPost, Path: name, Name: name, Returns: DeskStatus{}, Doc: doc},
		crawl: func(c Crawl, ctx context.Context, _ desk.Query) (any, error) {
			s, err := obey(c, ctx)
			return running(s), err
		},
		desk: (*deskSide).nobody,
	}
}

// brokenParams returns the parameters that select broken links.
func brokenParams(rows string, most int) []desk.Param {
	states := words([]schema.State{schema.DeadLink, schema.Failed, schema.Unreachable})
	return []desk.Param{
		{Name: "quality_origin", Kind: desk.Text, Most: maxName, Doc: "on pages of this origin alone, or none"},
		{Name: "state", Kind: desk.Text, Words: append(states, schema.AnswerSoft404.String()),
			Doc: "with a target in this state alone, or soft404"},
		{Name: "search", Kind: desk.Text, Most: 1000, Doc: "a part of a URL, of the anchor, or of the error"},
		{Name: "limit", Kind: desk.Number, Default: most, Most: maxRows, Doc: rows + " at most"},
	}
}

func suggestParams(rows desk.Param) []desk.Param {
	least := "origins that link there, or are linked from there, at least"
	return []desk.Param{{Name: "min_origins", Kind: desk.Number, Default: 1, Most: maxRows, Doc: least}, rows}
}

func inlinkParams() []desk.Param {
	return []desk.Param{
		{Name: "min_origins", Kind: desk.Number, Default: 1, Most: maxRows, Doc: "origins that a host links to, at least"},
		{Name: "limit", Kind: desk.Number, Default: 100, Most: maxRows, Doc: "hosts at most"},
	}
}

func historyParams() []desk.Param {
	return []desk.Param{{Name: "run", Kind: desk.Number, Most: 1<<31 - 1, Doc: "the run; 0: the newest"}}
}

func diffParams() []desk.Param {
	return []desk.Param{
		{Name: "from", Kind: desk.Number, Most: 1<<31 - 1, Doc: "the earlier run; 0: the one before the later"},
		{Name: "to", Kind: desk.Number, Most: 1<<31 - 1, Doc: "the later run; 0: the newest"},
	}
}

func shownParams() []desk.Param {
	return []desk.Param{{Name: "hosts", Kind: desk.Text, Required: true, Most: maxShownNames,
		Doc: "hosts, with spaces between"}}
}

// hostParams returns the parameters that select and order hosts.
func hostParams() []desk.Param {
	return []desk.Param{
		{Name: "search", Kind: desk.Text, Most: 253, Doc: "a part of the name"},
		{Name: "sort", Kind: desk.Text, Words: answer.SortedKeys(hostOrders()), Doc: "the column; without it by name"},
		{Name: "desc", Kind: desk.Flag, Doc: "the other way round"},
		{Name: "class", Kind: desk.Text, Words: append(words(schema.Classes()), classesVisited, classesListed),
			Doc: "of this class alone"},
		{Name: "cover", Kind: desk.Text, Words: append(words(survey.Covers()), coversCut), Doc: "of this coverage alone"},
		{Name: "quality_origin", Kind: desk.Text, Most: maxName, Doc: "of this origin alone"},
		{Name: "reason", Kind: desk.Text, Words: words(schema.TroubleKinds()), Doc: "with this trouble alone"},
		{Name: "tag", Kind: desk.Text, Most: 64, Doc: "with this tag alone"},
		{Name: "offset", Kind: desk.Number, Most: 1<<31 - 1, Doc: "matching hosts before the first"},
		{Name: "limit", Kind: desk.Number, Default: 100, Most: 500, Doc: "hosts at most"},
	}
}

// words returns the names of values.
func words[T interface{ String() string }](all []T) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return names
}
