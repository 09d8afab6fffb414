package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// testPolicy is the policy of the desk for pages.
const testPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const token = "t0ken"

type object map[string]any

// A fake is a desk with invented answers.
type fake struct {
	server *httptest.Server
	mode   string           // crawl, file or terrain
	hosts  int              // number of hosts
	change func(any) any    // changes every answer; nil: unchanged
	refuse map[string]int   // paths that are refused, with codes
	stream http.HandlerFunc // answers a stream; nil: a status, and two visits

	mu    sync.Mutex
	asked []string // requests of the API, with their queries
	limit int      // largest requested limit
	told  []string // received commands
}

// newFake starts a desk.
func newFake(t *testing.T) *fake {
	t.Helper()
	d := &fake{mode: "crawl", hosts: 40, refuse: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("/", NewHandler())
	mux.Handle("/api/v1/", d.guarded(d.api()))
	mux.HandleFunc("POST /enter", d.enter)
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", testPolicy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		d.server.CloseClientConnections()
		d.server.Close()
	})
	return d
}

// url returns an address that gives the token to a tab and leads to a view, as the desk prints it.
func (d *fake) url(view string) string { return d.server.URL + "/#token=" + token + "#/" + view }

// enter exchanges a ticket for a token; here both are the same.
func (d *fake) enter(w http.ResponseWriter, r *http.Request) {
	var shown struct{ Ticket string }
	if err := json.NewDecoder(r.Body).Decode(&shown); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"token": shown.Ticket})
}

func (d *fake) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v1/")
		d.mu.Lock()
		d.asked = append(d.asked, r.Method+" "+path+"?"+r.URL.RawQuery)
		if n, err := strconv.Atoi(r.FormValue("limit")); err == nil {
			d.limit = max(d.limit, n)
		}
		code := d.refuse[path]
		d.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+token {
			code = http.StatusUnauthorized
		}
		w.Header().Set("Cache-Control", "no-store") // as the desk does: a browser may keep an error
		if code != 0 {
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"error":"refused with %d"}`, code)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (d *fake) api() http.Handler {
	mux := http.NewServeMux()
	answers := map[string]func(*http.Request) any{
		"status": func(*http.Request) any { return d.status() }, "stats": func(*http.Request) any { return statsOf() },
		"hosts": d.hostList, "hosts/{domain}": dossierOf, "hosts/{domain}/requests": requestsOf,
		"pages": pageOf, "pages/list": d.pageList,
		"openapi.json": d.document, "suggest": suggestOf, "broken": brokenOf, "broken/targets": brokenTargetsOf,
		"duplicates": duplicatesOf, "inlinks": inlinksOf, "suggest/outside": outsideOf,
		"runs": runsOf, "diff": diffOf, "graph": graphOf,
		"decisions": decisionsOf, "origins": originsOf, "history": historyOf, "shown": shownOf,
	}
	for path, answer := range answers {
		mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, r *http.Request) { d.send(w, answer(r)) })
	}
	for _, command := range []string{"pause", "unpause", "stop", "reload"} {
		mux.HandleFunc("POST /api/v1/"+command, func(w http.ResponseWriter, r *http.Request) {
			d.mu.Lock()
			d.told = append(d.told, command)
			d.mu.Unlock()
			d.send(w, object{})
		})
	}
	mux.HandleFunc("POST /api/v1/query", func(w http.ResponseWriter, r *http.Request) { d.send(w, queryOf(r)) })
	mux.HandleFunc("POST /api/v1/decisions", func(w http.ResponseWriter, r *http.Request) { d.send(w, d.decided(r)) })
	mux.HandleFunc("POST /api/v1/files", func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		d.mu.Lock()
		d.told = append(d.told, string(text))
		d.mu.Unlock()
		d.send(w, object{})
	})
	mux.HandleFunc("GET /api/v1/files", func(w http.ResponseWriter, r *http.Request) { d.send(w, filesOf(r)) })
	mux.HandleFunc("GET /api/v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if d.stream != nil {
			d.stream(w, r)
			return
		}
		d.event(w, "status", "", d.status())
		d.event(w, "visits", "2", object{"visits": []any{visitOf(1), visitOf(2)}})
		hold(w, r, nil)
	})
	return mux
}

// hold keeps a stream open until its client disconnects, and sends what comes; nil: nothing comes.
// It sends a comment each second, as the desk sends its status: a client gives up a connection that
// is silent for long.
func hold(w http.ResponseWriter, r *http.Request, what <-chan func(http.ResponseWriter)) {
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for {
		select {
		case send := <-what:
			send(w)
		case <-beat.C:
			fmt.Fprint(w, ":\n\n")
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// event sends an event on a stream.
func (d *fake) event(w http.ResponseWriter, name, id string, v any) {
	text, _ := json.Marshal(d.changed(v))
	if id != "" {
		id = "id: " + id + "\n"
	}
	fmt.Fprintf(w, "event: %s\n%sdata: %s\n\n", name, id, text)
	w.(http.Flusher).Flush()
}

func (d *fake) send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d.changed(v))
}

// changed returns an answer as changed by change, in its JSON form.
func (d *fake) changed(v any) any {
	if d.change == nil {
		return v
	}
	text, _ := json.Marshal(v)
	var read any
	_ = json.Unmarshal(text, &read)
	return d.change(read)
}

// asks returns the requests that begin with prefix.
func (d *fake) asks(prefix string) (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range d.asked {
		if strings.HasPrefix(path, prefix) {
			list = append(list, path)
		}
	}
	return list
}

func (d *fake) status() object {
	switch d.mode {
	case "file":
		return object{"mode": "file", "run_id": 3, "status": "completed", "pages_requested": 282, "max_depth": 3,
			"condition": conditionOf("completed", "Run #3 is completed: the frontier is empty.")}
	case "terrain":
		return terrainOf()
	}
	return object{"mode": "crawl", "run_id": 3, "status": "running", "pid": 4711, "elapsed_seconds": 1834.2,
		"fetching": 0, "pages_requested": 12847, "requests": 20113, "pages_waiting": 4751, "pages_per_second": 8.25,
		"hosts":  object{"active": 0, "waiting": 12, "suspended": 2, "given_up": 1},
		"errors": object{"dead_link": 31, "timeout": 4}, "pages_to_visit": 4300, "depth": 1, "max_depth": 3,
		"eta_seconds": 3120.5, "eta_limit": "", "eta_hosts": []any{object{"domain": "slow.test", "pages_to_visit": 2400,
			"eta_seconds": 3120.5}},
		"troubles": []any{object{"domain": "gone.test", "why": "TLS error", "again_seconds": 31, "silent_seconds": 0,
			"robots": true, "given_up": false}}, "troubled": 5,
		"reasons": []any{reasonOf("ready", 1, 0, ""), reasonOf("crawl_delay", 12, 3.2, "Crawl-delay 10"),
			reasonOf("retries", 40, 31, "1 page to be tried again: timeout")},
		"waits_for": "12 hosts wait, next in 3.2 s: a.test",
		"condition": conditionOf("running", "12 hosts wait, next in 3.2 s: a.test.", "pause", "reload", "stop")}
}

// conditionOf returns a condition. A crawl that may be paused makes requests.
func conditionOf(name, headline string, commands ...any) object {
	return object{"name": name, "label": name, "headline": headline, "commands": append([]any{}, commands...),
		"fetches": len(commands) > 0 && commands[0] == "pause"}
}

func reasonOf(name string, hosts int, next float64, why string) object {
	return object{"reason": name, "hosts": hosts, "pages_waiting": 10 * hosts, "next_seconds": next, "first": "a.test",
		"first_why": why}
}

func visitOf(n int) object {
	return object{"cursor": n, "run": 3, "url": fmt.Sprintf("https://a.test/%d", n), "state": "processed",
		"visited_at": "2026-11-22T13:59:19Z", "redirect_to": "https://a.test/to",
		"metadata": object{"status_code": 200, "latency_ms": 20, "title": fmt.Sprintf("Page %d", n)}}
}

func statsOf() object {
	return object{"state_path": "/tmp/terrain.bolt", "state_bytes": 1 << 20, "run": object{"id": 3, "status": "completed",
		"reason": "the frontier is empty", "started_at": "2026-11-22T13:00:00Z", "finished_at": "2026-11-22T13:59:19Z",
		"pages": 282, "requests": 306, "running_seconds": 6.5, "errors": object{"dead_link": 3}},
		"left":  object{"pages_to_visit": 0, "depth": -1},
		"pages": 31800, "links": 2075, "hosts": 14, "listed_hosts": 3, "frontier": 0,
		"pages_by_state": object{"processed": 277, "dead_link": 3, "queued": 0}, "pages_by_class": object{"quality": 175},
		"pages_by_answer": object{"challenge": 2, "soft404": 0, "parked": 1},
		"pages_by_depth": []any{object{"depth": 0, "pages": 175, "processed": 170}, object{"depth": nil, "pages": 3,
			"processed": 0}},
		"origins": []any{object{"quality_origin": "*.a.test", "hosts": 2, "hosts_cut": 2, "pages_known": 4751,
			"pages_visited": 249, "pages_to_visit": 12, "known_missing": 4502, "urls_not_recorded": 2,
			"request_count": 500, "request_limit": 1000,
			"eta_seconds": 61.5, "coverage": "cut by budget (max-domain-requests = 500)",
			"cut_by": "max-domain-requests = 500"}, object{"quality_origin": "kept.test", "hosts": 1, "pages_known": 60,
			"pages_visited": 58, "coverage": "complete"}},
		"slow_hosts": []any{object{"domain": "gone.test", "class": "discovered", "known_missing": 1, "pages_to_visit": 7,
			"eta_seconds": 12.5, "coverage": "unreachable: TLS error"}}, "slow_hosts_total": 1}
}

// document returns the parts of openapi.json that the application reads.
func (d *fake) document(*http.Request) any {
	list := object{}
	if d.mode == "terrain" {
		for _, path := range strings.Fields("status terrain events pause unpause stop reload") {
			list["/"+path] = object{}
		}
		return object{"paths": list}
	}
	for _, path := range strings.Fields("status stats hosts/{domain} hosts/{domain}/requests pages pages/list " +
		"suggest suggest/outside inlinks broken broken/targets duplicates runs " +
		"decisions diff graph history query events files tickets pause unpause stop reload") {
		list["/"+path] = object{}
	}
	parameter := func(name string, words ...any) object {
		return object{"name": name, "schema": object{"enum": words}}
	}
	list["/hosts"] = object{"get": object{"parameters": []any{parameter("class", "quality", "stub"),
		parameter("cover", "complete"), parameter("reason", "rest", "retries")}}}
	list["/graph"] = object{"get": object{"parameters": []any{parameter("kind", "anchor", "blogroll")}}}
	list["/pages/list"] = object{"get": object{"parameters": []any{parameter("class", "quality", "stub"),
		parameter("state", "processed", "dead_link")}}}
	return object{"paths": list}
}

func (d *fake) hostList(r *http.Request) any {
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	total, hosts := d.hosts, []any{}
	if r.FormValue("search") == "nowhere" {
		total = 0
	}
	for i := offset; i < min(offset+limit, total); i++ {
		hosts = append(hosts, object{"domain": fmt.Sprintf("host-%07d.test", i), "class": "discovered", "title": "A host",
			"coverage": "complete", "cover": "complete", "trouble": "", "min_depth": 1, "pages_known": i + 1,
			"pages_visited": i, "requests": i, "delay_ms": 1000, "known_missing": 1, "tags": []any{"near"}, "note": "asked Ada"})
	}
	return object{"total": total, "offset": offset, "hosts": hosts, "tags": []any{"near", "radio"}}
}

// pageList lists as many pages as there are hosts.
func (d *fake) pageList(r *http.Request) any {
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	d.mu.Lock()
	total, rows := d.hosts, []any{}
	d.mu.Unlock()
	if r.FormValue("search") == "nowhere" {
		total = 0
	}
	for i := offset; i < min(offset+limit, total); i++ {
		rows = append(rows, []any{fmt.Sprintf("https://host-%07d.test/", i), "=A\u202e\"page\"\t\x00x", "processed", 200, 1234, nil})
	}
	column := func(name, title, kind string) object {
		return object{"name": name, "title": title, "kind": kind, "usual": name != "etag"}
	}
	return object{"snapshot": "S", "total": total, "whole": true, "offset": offset, "rows": rows,
		"columns": []any{column("url", "page", "page"), column("title", "title", "text"), column("state", "state", "state"),
			column("status_code", "status", "number"), column("response_ms", "answer time", "milliseconds"),
			column("visited_at", "visited", "time"), column("etag", "ETag", "constructor")},
		"chosen": []any{"url", "title", "state", "status_code", "response_ms", "visited_at"},
		"choices": object{"status_code": []any{200, 404}, "content_type": []any{"text/html"}, "depth": []any{"0", "none"},
			"error": []any{"404 Not Found"}, "error_kind": []any{}}}
}
