package serve

import (
	"net/http"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	maxName = 2048    // of a host that is asked for, in bytes
	maxURL  = 1 << 16 // of a page that is asked for, as long as [url] max-length allows
	maxRows = 100_000
)

// terrainRoutes are what is asked of the terrain, and answered by t in the process that
// reads it; elsewhere t is nil. The answers are those of the commands with --json.
func terrainRoutes(t *terrainReader) []desk.Route {
	rows := desk.Param{Name: "limit", Kind: desk.Number, Default: 20, Most: maxRows, Doc: "rows of each list at most"}
	host := desk.Param{Name: "domain", Kind: desk.Text, Required: true, Most: maxName, Doc: "a host"}
	page := desk.Param{Name: "url", Kind: desk.Text, Required: true, Most: maxURL, Doc: "a page"}
	links := desk.Param{Name: "limit", Kind: desk.Number, Default: 10_000, Most: maxRows, Doc: "links at most"}
	all := []desk.Route{
		{Path: "stats", Name: "stats", Params: []desk.Param{rows},
			Returns: answer.Stats{}, Answer: t.of((*Opened).answerStats),
			Doc: "Pages by state, class and depth, and the hosts that take longest."},
		{Path: "origins", Name: "origins",
			Returns: answer.OriginList{}, Answer: t.of((*Opened).answerOrigins),
			Doc: "How far the run has come with its origins, those first that take longest, at most 1,000: " +
				"of a crawl from its memory, a second old for every 10,000 hosts."},
		{Path: "hosts", Name: "hosts", Params: HostParams(),
			Returns: HostPage{}, Answer: t.of((*Opened).answerHosts),
			Doc: "Some of the hosts that match, in an order."},
		{Path: "hosts/{domain}", Name: "host", Params: []desk.Param{host, rows},
			Returns: answer.Host{}, Answer: t.of((*Opened).answerHost),
			Doc: "All that is known of a host."},
		{Path: "pages", Name: "page", Params: []desk.Param{page, rows},
			Returns: answer.Page{}, Answer: t.of((*Opened).answerPage),
			Doc: "All that is known of a page."},
		{Path: "path", Name: "path", Params: []desk.Param{page},
			Returns: []answer.OriginPath{}, Answer: t.of((*Opened).answerPath),
			Doc: "A shortest way of links from each origin to a page."},
		{Path: "suggest", Name: "suggest", Params: suggestParams(rows),
			Returns: answer.Suggestions{}, Answer: t.of((*Opened).answerSuggest),
			Doc: "Hosts that are on no list, ranked by the origins that link to them."},
		{Path: "broken", Name: "broken", Params: []desk.Param{links},
			Returns: []answer.BrokenLink{}, Answer: t.of((*Opened).answerBroken),
			Doc: "Links that lead nowhere, by origin."},
		{Path: "runs", Name: "runs",
			Returns: answer.RunList{}, Answer: t.of((*Opened).AnswerRuns),
			Doc: "All runs, the newest first."},
		{Path: "feed", Name: "feed", Params: feedParams(),
			Returns: feed.Batch{}, Answer: t.of((*Opened).answerFeed),
			Doc: "Visits after a cursor, each once, and the cursor to go on with."},
		{Path: "hosts/{domain}/requests", Name: "requests", Params: []desk.Param{host},
			Returns: answer.RequestList{}, Answer: t.of((*Opened).answerRequests),
			Doc: "The last 100 requests to a host, the newest first, with the rest that was promised before each " +
				"and that was kept; where no crawl runs, the visits."},
		{Path: "diff", Name: "diff", Params: diffParams(),
			Returns: map[string]any{}, Answer: t.of((*Opened).answerDiff),
			Doc: "What came, went and changed between two runs."},
		{Path: "graph", Name: "graph",
			Returns: map[string]any{}, Answer: t.of((*Opened).answerGraph),
			Doc: "The hosts with their places, and the links between them, as the HTML map shows them: " +
				"at most 5,000 hosts, the most trusted; with links in the text of pages counted, and under " +
				"\"other\" what is different with all."},
	}
	for i := range all {
		all[i].Method, all[i].Apart = http.MethodGet, true
	}
	return append(all, desk.Route{Method: http.MethodPost, Path: "query", Name: "query", Apart: true, Body: Statement{},
		Returns: queryAnswer{}, Answer: t.inTime((*Opened).answerQuery),
		Doc: "Ask one read-only SQL statement of the tables of the SQLite export: 30 s, 256 MB of memory, " +
			"1 GB of temporary files, 100,000 rows."})
}

func suggestParams(rows desk.Param) []desk.Param {
	least := "origins that link there, at least"
	return []desk.Param{{Name: "min_origins", Kind: desk.Number, Default: 1, Most: maxRows, Doc: least}, rows}
}

func feedParams() []desk.Param {
	return []desk.Param{
		{Name: "since", Kind: desk.Number, Default: -1, Least: -1, Most: 1 << 53,
			Doc: "a cursor; -1: that of the last visit"},
		{Name: "brief", Kind: desk.Flag, Doc: "without the links of the pages"},
		{Name: "last", Kind: desk.Number, Most: maxRows,
			Doc: "only the last visits, at most this many, without their links; 0: all"},
	}
}

func diffParams() []desk.Param {
	return []desk.Param{
		{Name: "from", Kind: desk.Number, Most: 1<<31 - 1, Doc: "the earlier run; 0: the one before the later"},
		{Name: "to", Kind: desk.Number, Most: 1<<31 - 1, Doc: "the later run; 0: the newest"},
	}
}

// HostParams are how hosts are chosen and ordered.
func HostParams() []desk.Param {
	return []desk.Param{
		{Name: "search", Kind: desk.Text, Most: 253, Doc: "a part of the name"},
		{Name: "sort", Kind: desk.Text, Words: answer.SortedKeys(hostOrders()), Doc: "the column; without it by name"},
		{Name: "desc", Kind: desk.Flag, Doc: "the other way round"},
		{Name: "class", Kind: desk.Text, Words: words(schema.Classes()), Doc: "of this class alone"},
		{Name: "cover", Kind: desk.Text, Words: words(survey.Covers()), Doc: "of this coverage alone"},
		{Name: "reason", Kind: desk.Text, Words: words(schema.TroubleKinds()), Doc: "with this trouble alone"},
		{Name: "tag", Kind: desk.Text, Most: 64, Doc: "with this tag alone"},
		{Name: "offset", Kind: desk.Number, Most: 1<<31 - 1, Doc: "matching hosts before the first"},
		{Name: "limit", Kind: desk.Number, Default: 100, Most: 500, Doc: "hosts at most"},
	}
}

// words are the names of values.
func words[T interface{ String() string }](all []T) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return names
}
