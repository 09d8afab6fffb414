package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func dossierOf(r *http.Request) any {
	return object{"input": r.PathValue("domain"), "known": true, "domain": r.PathValue("domain"), "class": "quality",
		"tags": []any{"radio"}, "note": "asked Ada", "later": false, "rule": `quality "a.test"`,
		"run_id": 3, "title": "The house of A", "domain_shown": "a.test (bücher.test)", "min_depth": 0, "pages_known": 54,
		"pages_visited": 53, "pages_waiting": 1, "crawl_count": 53, "requests": 56,
		"pages_by_state": object{"processed": 53, "failed": 1}, "coverage": "denied by robots.txt (1 of 54 pages)",
		"known_missing": 1, "links_omitted": 0, "trouble": "asked Ripple to wait", "again_at": "2036-11-22T13:59:19Z",
		"next_request": "2036-11-22T13:59:19Z", "delay_ms": 1000, "crawl_delay_ms": 0, "timeouts": 0, "smoothed_ms": 8,
		"request_count": 53, "request_limit": 200, "rate_limited": 1, "walled_pages": 2, "soft404_pages": 3,
		"changed_hands": handsOf(), "missing_pages": "soft", "answered": []any{answeredOf("challenge")}, "missing_probe": probeOf(),
		"robots": object{"status_code": 200, "robots_fetched_at": "2026-11-22T13:59:13Z",
			"robots_txt": "User-agent: *\nDisallow: /drafts/\nAllow: /drafts/published\n"},
		"linked_from":   linkedFrom(r.FormValue("place")),
		"busiest_pages": []any{object{"url": "https://a.test/", "title": "A", "state": "processed", "links_in": 57}},
		"errors":        []any{object{"error": "denied by robots.txt", "pages": 1}},
		"runs": []any{object{"run_id": 3, "first_visit": "2026-11-22T13:59:13Z", "pages": 54, "kept": 0, "processed": 53,
			"requests": 53}}}
}

func handsOf() object {
	return object{"domain": "a.test",
		"before": object{"run_id": 1, "url": "https://a.test/", "title": "The Bakery", "redirect_to": ""},
		"after":  object{"run_id": 2, "url": "https://a.test/", "title": "", "redirect_to": "https://casino.test/"}}
}

func duplicatesOf(r *http.Request) any {
	copies := []any{object{"url": "https://a.test/print", "bits": 0}, object{"url": "https://b.test/copy", "bits": 2}}
	return object{"domain": r.FormValue("domain"), "duplicate_share": 0.25, "duplicates": 7, "cluster_count": 3,
		"clusters": []any{object{"url": "https://a.test/one", "pages": 3, "hosts": 2, "bits": 2, "members": copies,
			"other_hosts": 0}}}
}

func inlinksOf(r *http.Request) any {
	origins := []any{object{"origin": "a.test", "graph_hosts": 1, "host_count": 2},
		object{"origin": "b.test", "graph_hosts": 0, "host_count": 0}}
	hosts := outsideOf(r).(object)["hosts"].([]any)
	if r.FormValue("min_origins") == "9" {
		hosts = []any{}
	}
	return object{"release": "cc-main-2024-may", "sample": true, "level": "host", "read_at": "2026-11-22T13:59:13Z", "ranked": true,
		"origins": origins, "host_count": len(hosts), "known_count": 1, "hosts": hosts}
}

func outsideOf(*http.Request) any {
	return object{"release": "cc-main-2024-may", "sample": true, "level": "host", "origins": 3, "hosts": []any{
		object{"host": "best.example", "site": "best.example", "harmonic_rank": 4711, "pagerank_rank": 3,
			"origins": []any{"a.test", "b.test"}, "block": "[[quality]]\ndomain = \"best.example\""},
		object{"host": "far.example", "site": "far.example", "harmonic_rank": nil, "pagerank_rank": nil,
			"origins": []any{"a.test"}}}}
}

func answeredOf(answer string) object {
	return object{"answer": answer, "answer_rule": "anubis-challenge", "rule_date": "2026-11-28",
		"rule_source": "Anubis: template", "sign": "id of a script"}
}

func probeOf() object {
	return object{"url": "https://a.test/pqrs", "requested_at": "2026-11-22T13:59:13Z", "last_run": 3, "status_code": 200,
		"wall": false, "redirect_to": "", "title": "Not found", "needs_scripts": false}
}

func linkedFrom(place string) any {
	by := object{"domain": "b.test", "quality_origin": "b.test", "pages": 3, "links": 4, "editorial": 2,
		"from_url": "https://b.test/", "to_url": "https://a.test/", "anchor": "the A", "place": "main"}
	if place == "nav" {
		by["domain"], by["editorial"], by["place"] = "menu.test", 0, "nav"
	}
	return object{"hosts": 1, "pages": 3, "links": 4, "places": placesOf(), "from": []any{by}}
}

func placesOf() any {
	return []any{object{"place": "text", "links": 2, "pages": 2, "anchors": 1, "origins": 1},
		object{"place": "main", "links": 3, "pages": 3, "anchors": 2, "origins": 1},
		object{"place": "nav", "links": 297, "pages": 297, "anchors": 4, "origins": 0},
		object{"place": "sitewide", "links": 290, "pages": 290, "anchors": 1, "origins": 0}}
}

func requestsOf(*http.Request) any {
	list := []any{} // the newest first
	for i := range 100 {
		r := object{"url": "https://a.test/", "at": time.Date(2026, 11, 22, 13, 0, 100-i, 0, time.UTC), "gap_ms": 1000 + 10*i,
			"promised_ms": 1000, "kind": "get", "status_code": 200, "response_ms": 30, "error_message": ""}
		if i == 99 {
			r["gap_ms"], r["promised_ms"] = 0, 0
		}
		list = append(list, r)
	}
	return object{"domain": "a.test", "requests": list}
}

func pageOf(r *http.Request) any {
	path := []any{object{"url": "https://b.test/"}, object{"url": r.FormValue("url"), "kind": "anchor", "place": "main",
		"anchor": "the A"}}
	link := object{"url": "https://b.test/", "state": "processed", "kind": "anchor", "rel": "nofollow", "place": "main",
		"anchor": "the B"}
	in := object{"editorial": true, "sitewide": r.FormValue("place") == "sitewide"}
	maps.Copy(in, link)
	return object{"input": r.FormValue("url"), "known": true, "url": r.FormValue("url"), "surt_key": "test,a)/",
		"steps": []any{object{"step": "parse", "result": r.FormValue("url")}}, "class": "quality", "rule": "a rule",
		"state": "failed", "error_message": "500 Internal", "depth": 0, "seed": true, "page_type": "issue",
		"title": "About A", "discovered_at": "2026-11-22T13:59:13Z", "first_run": 1, "last_run": 3,
		"referrer": "https://b.test/", "forms": []any{r.FormValue("url")},
		"depths": []any{object{"quality_origin": "b.test", "depth": 1, "path": path}},
		"robots": object{"agent": "Bot", "group": "*", "allowed": false, "rule": "Disallow: /drafts/", "line": 2,
			"why": "line 2", "status_code": 200, "robots_fetched_at": "2026-11-22T13:59:13Z"}, "host_trouble": "",
		"answered": answeredOf("soft404"), "missing_probe": probeOf(),
		"redirects": []any{"https://b.test/"}, "facts": []any{object{"name": "author", "value": "Ann"}},
		"links_in":  object{"total": 300, "places": placesOf(), "links": []any{in}},
		"links_out": object{"total": 1, "links": []any{link}, "links_omitted": 3}, "visits_omitted": 7,
		"visits": []any{object{"run_id": 3, "visited_at": "2026-11-22T13:59:13Z", "state": "failed", "status_code": 500,
			"content_type": "text/html", "content_length": 544, "response_ms": 0, "requests": 1, "kept": false,
			"error_message": "500 Internal"}}}
}

func suggestOf(*http.Request) any {
	one := object{"entity": "new.test", "domain": "new.test", "site": "new.test",
		"answering_url": "https://new.test/start", "title": "New",
		"class": "discovered", "hosts": 1, "pages": 22, "origins": 2,
		"links": 9, "trust": 0.0204, "coverage": "complete", "known_missing": 0,
		"block": "[[quality]]\ndomain = \"new.test\"\nseeds = [\"https://new.test/\"]",
		"linked_from": []any{object{"quality_origin": "a.test", "editorial": 2, "elsewhere": 1, "sitewide": 4,
			"from_url": "https://a.test/", "to_url": "https://new.test/", "anchor": "new", "place": "main"}}}
	stub := object{"entity": "shop.other.test", "domain": "shop.other.test", "site": "other.test", "answering_url": "",
		"title": nil, "class": "stub", "hosts": 1, "pages": 1, "origins": 1, "links": 3, "trust": 0.01, "coverage": "",
		"known_missing": 0, "linked_from": one["linked_from"]}
	owner := object{"hosts": []any{"a.test", "ann.example"}, "block": "[[entity]]\ndomain = \"a.test\"",
		"links": []any{object{"from_url": "https://a.test/", "to_url": "https://ann.example/"}}}
	return object{"origins": 3, "discovered": []any{one}, "stubs": []any{stub}, "owners": []any{owner}}
}

func decisionsOf(*http.Request) any {
	return object{"path": "/tmp/decided.toml", "reason": "", "decisions": []any{object{"host": "b.test", "class": "later",
		"seeds": []any{}, "tags": []any{"radio"}, "note": "asked Ada"}}}
}

// decided answers a decision.
func (d *fake) decided(r *http.Request) any {
	text, _ := io.ReadAll(r.Body)
	var v object
	_ = json.Unmarshal(text, &v)
	d.mu.Lock()
	d.told = append(d.told, string(text))
	d.mu.Unlock()
	turn := object{"from": "discovered", "to": v["class"], "pages": 22}
	entries, before := []any{map[string]any(v)}, []any{}
	if several, is := v["decisions"].([]any); is {
		entries = several
	}
	for _, e := range entries {
		before = append(before, object{"host": e.(map[string]any)["host"], "class": "none"})
	}
	return object{"decisions": entries, "before": before, "undo": object{"at": 0, "length": 9, "text": "#"},
		"host": v["host"], "class": v["class"], "seeds": v["seeds"], "tags": v["tags"], "note": v["note"],
		"toml": fmt.Sprintf("[[decision]]\nhost = %q\n", v["host"]), "path": "/tmp/decided.toml", "version": "v1",
		"written": v["dry_run"] != true, "applied": "reclassify", "reason": "", "change": object{"pages": 282,
			"pages_changed": 22, "classes": []any{turn}, "states": []any{turn}, "pages_waiting": 21, "turned_more": 21,
			"depths": object{"nearer": 3, "farther": 0, "gained": 1, "lost": 0},
			"turned_pages": []any{object{"url": "https://new.test/", "class_before": "discovered", "class": v["class"],
				"state_before": "discovered", "state": "queued"}}}}
}

func shownOf(r *http.Request) any {
	shown := object{}
	for _, host := range strings.Fields(r.FormValue("hosts")) {
		if text := weburl.ShownIfOther(host); text != "" {
			shown[host] = text
		}
	}
	return object{"shown": shown}
}

// originsOf returns origins whose figures change, one whose pages are kept, and one that the reader
// has not met yet.
func originsOf(*http.Request) any {
	origin := func(name string, visited int) object {
		return object{"quality_origin": name, "hosts": 1, "pages_requested": visited, "pages_to_visit": 5, "request_count": 777,
			"request_limit": 1000, "eta_seconds": 90}
	}
	return object{"origins": []any{origin("*.a.test", 251), origin("kept.test", 2), origin("new.test", 3)}}
}

// brokenLinks returns those broken links whose targets are in a state; empty: in any.
func brokenLinks(state string) []object {
	return slices.DeleteFunc([]object{{"quality_origin": "a.test", "from_url": "https://a.test/", "anchor": "Guestbook",
		"to_url": "https://a.test/guestbook", "state": "dead_link", "status_code": 410, "error_message": "410 Gone",
		"kind": "anchor", "rel": "", "place": "body", "answer": nil},
		{"quality_origin": nil, "from_url": "https://b.test/", "anchor": "", "to_url": "https://gone.test/",
			"state": "unreachable", "status_code": nil, "error_message": "=TLS error", "kind": "anchor", "rel": "",
			"place": "body", "answer": nil}}, func(l object) bool { return state != "" && state != l["state"] })
}

// walledLinks returns the links to pages that show a wall. They are in no state that can be chosen.
func walledLinks(state string) []object {
	if state != "" {
		return nil
	}
	return []object{{"quality_origin": "a.test", "from_url": "https://a.test/", "anchor": "Shop",
		"to_url": "https://walled.test/", "state": "failed", "status_code": 403, "error_message": "walled: Cloudflare",
		"kind": "anchor", "rel": "", "place": "body", "answer": "challenge"}}
}

func brokenOf(r *http.Request) any {
	state := r.FormValue("state")
	return slices.Concat(brokenLinks(state), walledLinks(state))
}

func brokenTargetsOf(r *http.Request) any {
	links, walled := brokenLinks(r.FormValue("state")), walledLinks(r.FormValue("state"))
	one := func(name string) object { return object{"name": name, "links": 1} }
	return object{"all_links": 2, "links": len(links), "target_count": len(links), "targets": targetsOf(links),
		"walled_links": len(walled), "walled_target_count": len(walled), "walled_targets": targetsOf(walled),
		"origins": []any{one("a.test"), one("none")}, "states": []any{one("dead_link"), one("unreachable")}}
}

// targetsOf returns the targets of links, each of which has one of its own.
func targetsOf(links []object) []any {
	targets := []any{}
	for _, l := range links {
		origins := 0
		if l["quality_origin"] != nil {
			origins = 1
		}
		targets = append(targets, object{"to_url": l["to_url"], "state": l["state"], "status_code": l["status_code"],
			"error_message": l["error_message"], "answer": l["answer"], "links": 1, "origins": origins, "first_links": []any{l}})
	}
	return targets
}

func runsOf(*http.Request) any {
	run := func(id int) object {
		return object{"id": id, "status": "completed", "reason": "the frontier is empty",
			"kind": "crawl", "started_at": "2026-11-22T13:00:00Z", "finished_at": "2026-11-22T13:59:19Z", "pages": 282,
			"requests": 306, "running_seconds": 6.5, "errors": object{}}
	}
	return object{"runs": []any{run(2), run(1)}}
}

// historyOf returns a run that paused after 20 s.
func historyOf(*http.Request) any {
	points := []any{}
	for i := range 40 {
		at := time.Date(2026, 11, 22, 13, 0, i, 0, time.UTC)
		if i >= 20 {
			at = at.Add(time.Minute)
		}
		points = append(points, object{"at": at, "pages_requested": 3 * i, "requests": 4 * i, "errors": 0, "pages_to_visit": 90 - i})
	}
	return object{"run_id": 2, "every_seconds": 1, "points": points}
}

func diffOf(*http.Request) any {
	page := object{"url": "https://a.test/", "change": "changed", "what": []any{"title"}, "before": object{"state": "processed",
		"status_code": 200, "answer": "challenge", "answer_status_code": 403}, "after": nil}
	return object{"from": object{"run_id": 1, "status": "completed"}, "to": object{"run_id": 2, "status": "interrupted"},
		"hosts_not_visited": []any{"away.test"}, "changed_hands": []any{handsOf()},
		"page_counts": object{"came": 4, "went": 5, "changed": 6}, "link_counts": object{"came": 7, "went": 8, "changed": 0},
		"hosts":        []any{object{"domain": "a.test", "change": "came", "pages_came": 1, "pages_went": 2, "pages_changed": 3}},
		"link_rot":     []any{object{"quality_origin": "a.test", "links": 10, "dead": 2, "newly_dead": 1, "mended": 0}},
		"dead_targets": []any{object{"url": "https://gone.test/", "links": 3, "after": object{"state": "unreachable"}}},
		"pages":        []any{page}, "links": []any{object{"from_url": "https://a.test/", "to_url": "https://b.test/",
			"kind": "anchor", "change": "went"}}}
}

func queryOf(r *http.Request) any {
	var asked struct{ SQL string }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	if strings.Contains(asked.SQL, "host_links") {
		return object{"columns": []any{"domain", "pages", "links", "editorial"}, "rows": []any{[]any{"b.test", 1, 2, 1}}}
	}
	if strings.Contains(asked.SQL, "GROUP BY") {
		return object{"columns": []any{"state", "pages"}, "rows": []any{[]any{"processed", 1234}, []any{nil, 0.25}}}
	}
	return object{"columns": []any{"domain", "url", "n", "text"}, "more": true,
		"rows": []any{[]any{"a.test", "https://a.test/", 1234, "=1+1"}, []any{"b.test", nil, nil, "two"}}}
}

func filesOf(*http.Request) any {
	formats := []any{
		object{"name": "gexf", "title": "GEXF", "for": "opens finished in Gephi", "graph": true},
		object{"name": "scroll", "title": "Scroll", "for": "what no desk has heard of", "graph": false},
	}
	return object{"formats": formats, "files": []any{object{"id": "1", "order": object{"format": "gexf", "level": "site"},
		"name": "terrain.gexf", "status": "done", "bytes": 123456789, "seconds": 2.5, "error_message": ""},
		object{"id": "2", "order": object{"format": "sqlite"}, "name": "terrain.db", "status": "failed",
			"error_message": "the disk is full"},
		object{"id": "3", "order": object{"format": "csv", "run": "2", "without": []any{"nav", "footer"}, "min_weight": 3},
			"name": "terrain-csv", "status": "writing", "bytes": 5000, "seconds": 4, "error_message": "", "step": "links",
			"percent": 40}}}
}

// terrainOf returns a terrain in which one shard of three is silent, and another one's node has
// another version.
func terrainOf() object {
	since := "2026-11-22T13:59:19Z"
	running := object{"status": "running", "pages_requested": 1200, "pages_to_visit": 34, "pages_per_second": 6.25,
		"eta_seconds": 90.5}
	shard := func(n int, state, node string) object {
		return object{"shard": n, "state": state, "node": node, "since": since, "configuration": 1,
			"status": nil, "pages_requested": nil,
			"untold": []any{}, "asked_by": []any{}, "silent_since": nil}
	}
	one, two, three := shard(0, "running", "attic:/home/ann/terrain"), shard(1, "silent", "cellar:/home/ann/terrain"),
		shard(2, "constructor", "shed:/home/ann/terrain")
	one["status"], one["untold"] = running, []any{object{"shard": 1, "urls": 2, "more": false, "silent_since": since}}
	two["asked_by"], two["silent_since"] = []any{0}, since
	three["status"] = running
	one["pages_requested"], three["pages_requested"] = 1200, 1200
	return object{"mode": "terrain", "status": "running", "condition": conditionOf("silent",
		"Run #3 is open until 1 silent shard answers.", "pause", "reload", "stop"), "pages_per_second": 12.5, "seen_at": since,
		"error_message": "the hub does not answer", "unite": "ripple merge ./terrain ... -o terrain.bolt",
		"notes": []any{object{"text": "shard 0 has to tell shard 1 of 2 URLs, and waits for an answer for 12 s", "since": since},
			object{"text": "shard 2 waits for a node that makes its file", "since": nil}},
		"terrain": object{"hub": "nats://127.0.0.1:4222", "terrain": "0123456789abcdef0123456789abcdef", "run": 3,
			"configuration": 2, "over": false, "without": []any{}, "paused": false, "nodes": []any{one["node"], two["node"]},
			"pages_requested": 2400, "pages_to_visit": 68, "not_counted": 1, "silent": 1, "shards": []any{one, two, three}}}
}
