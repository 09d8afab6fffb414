package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/demo"
	"github.com/sumi-ripple/ripple/export/browsertest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

// TestMain makes the test binary be ripple, for scripts and for tests that start it.
func TestMain(m *testing.M) {
	program := command.New(os.Stdout, os.Stderr)
	program.Timing = func(time.Duration) lease.Timing { return crawltest.Timing(8) } // a busy machine keeps its leases
	forTests := func(arg string) bool { return strings.HasPrefix(arg, "-test.") }
	if os.Getenv("RIPPLE_TEST_MAIN") != "" && !slices.ContainsFunc(os.Args, forTests) {
		tellHoldings()
		os.Exit(run(program))
	}
	patient := program
	patient.SilentFor = time.Hour // scripts compare stderr, even on slow machines
	testscript.Main(tests{m}, map[string]func(){"ripple": func() { os.Exit(run(patient)) }})
}

// tests are the tests of this package, whose desks have readers of their own.
type tests struct{ m *testing.M }

func (s tests) Run() int {
	os.Setenv("RIPPLE_TEST_MAIN", "1")
	disktest.InMemory()
	crawltest.WithoutSystemRoots()
	sidebyside.Tests(10) // these tests mostly wait for the delays of hosts
	return browsertest.Run(s.m)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("TMPDIR", env.Getenv("WORK"))
			env.Setenv("XDG_RUNTIME_DIR", "")
			for name, value := range crawltest.NoSystemRoots() {
				env.Setenv(name, value)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"web": scriptWeb, "exits": scriptExits, "files": scriptFiles, "hold": scriptHold, "awaits": scriptAwaits,
			"until": scriptUntil, "shard": scriptShard, "alone": scriptAlone,
		},
	})
}

// scriptWeb serves a web until the script ends, and writes the configuration
// that crawls it: web demo, or web small|slow|silent|odd [KEY=VALUE of [crawler]]...
func scriptWeb(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: web demo|small|slow|silent|odd|shells|twins|foreign|pair|untold [key=value...]")
	}
	web, err := webtest.New()
	ts.Check(err)
	ts.Defer(func() { web.Close() })
	dir := ts.MkAbs(".")
	ca, err := web.CAFile(dir)
	ts.Check(err)
	var text string
	switch args[0] {
	case "demo":
		demo.Serve(web)
		text = demo.Config(web.Addr(), ca, dir)
	case "small", "slow":
		rippletest.SmallWeb(web)
		hookWeb(web, dir)
		text = rippletest.SmallConfig(web.Addr(), args[0] == "slow", args[1:])
	case "silent":
		rippletest.SmallWeb(web)
		silentWeb(web)
		text = strings.ReplaceAll(rippletest.SmallConfig(web.Addr(), false, args[1:]),
			"/a.test/\"]", "/a.test/\", \"https://a.test/silent\"]")
		text = strings.Replace(text, rippletest.SoonAgain, "", 1) // the script sets its own retries
	case "odd":
		oddWeb(web)
		text = rippletest.SmallConfig(web.Addr(), false, args[1:])
	case "shells":
		shellWeb(web)
		text = rippletest.SmallConfig(web.Addr(), false, args[1:])
	case "twins":
		twinsWeb(web)
		text = rippletest.SmallConfig(web.Addr(), false, args[1:])
	case "links":
		linksWeb(web)
		text = rippletest.SmallConfig(web.Addr(), false, args[1:])
	case "foreign":
		foreignWeb(web)
		text = rippletest.SmallConfig(web.Addr(), false, args[1:])
	case "pair", "untold":
		pairWeb(web, args[0] == "untold")
		text = rippletest.SmallConfig(web.Addr(), false, args[1:]) + pairConfig
	default:
		ts.Fatalf("there is no web %q", args[0])
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o644))
}

func link(href, text string) string { return fmt.Sprintf("<a href=%q>%s</a>\n", href, text) }

// oddWeb is a quality site with redirects in a circle and to a neighbour whose front page is
// missing, and a link to a host that cannot be reached.
func oddWeb(web *webtest.Server) {
	a := web.Host("a.test")
	a.Robots("User-agent: *\nDisallow: /private\n")
	a.Page("/", "<title>Front</title>"+link("/private", "Private")+link("/round", "Round")+link("/next", "Next")+
		link("https://away.test/", "Away")+link("https://b.test/deep", "Deep"))
	a.Redirect("/round", "/about", 302)
	a.Redirect("/about", "/round", 302)
	a.Redirect("/next", "https://b.test/", 301)
	web.Host("b.test").Page("/deep", "<title>Deep</title>"+link("/", "Home"))
	web.Host("b.test").Robots("")
	web.Host("away.test").Down(webtest.DownRefused)
}

// shellWeb is a quality site with two pages that show nothing without their scripts, one of which
// never changes, and one page that scripts rewrite.
func shellWeb(web *webtest.Server) {
	const app = `<script type="module" src="/app.js"></script>`
	a := web.Host("a.test")
	a.Page("/", "<title>Front</title>"+link("/map", "Map")+link("/shop", "Shop")+link("/news", "News"))
	a.Page("/map", `<title>Map</title><div id="root"></div>`+app).Header("Etag", `"1"`)
	a.Page("/shop", `<title>Shop</title><noscript>Please enable JavaScript.</noscript><div id="page"></div>`+app)
	a.Page("/news", `<title>News</title><div id="root"><h1>News</h1><p>The mill is open.</p></div>`+app)
}

// linksWeb is a site with broken links to itself and elsewhere, and with fragments. Its neighbours are a site that
// has moved to it, one that forbids everything and one that is down.
func linksWeb(web *webtest.Server) {
	a := web.Host("a.test")
	a.Page("/", `<title>Front</title><h1 id="top of page">A</h1>`+link("/one#Part%202", "Part 2")+link("/one#gone", "Part 3")+
		link("#nowhere", "Nowhere")+link("#now%68ere", "Nowhere")+link("/missing", "Missing")+link("https://b.test/", "Neighbour"))
	a.Page("/one", `<p id="Part 2">x</p><a name="old"></a>`+link("#old", "Old")+link("/missing", "Gone")+
		link("https://b.test/gone", "Gone")+link("https://b.test/getonly", "Form")+link("https://shut.test/", "Shut")+
		link("https://away.test/", "Away")+link("https://walled.test/", "Walled"))
	web.Host("walls.test").Page("/", link("https://walled.test/", "Walled"))
	web.Host("walled.test").Page("/", "").Status(http.StatusForbidden).Header("Cf-Mitigated", "challenge")
	web.Host("sells.test").Page("/", link("/paid", "Paid"))
	web.Host("sells.test").Status("/paid", http.StatusPaymentRequired)
	a.Page("/alone", "<title>Alone</title>")
	web.Host("b.test").Page("/", link("/deep", "Deep")+link("/dead", "Dead"))
	web.Host("b.test").Handle("/getonly", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	web.Host("moved.test").Redirect("/", "https://b.test/", http.StatusMovedPermanently)
	hops := web.Host("hops.test")
	hops.Page("/", link("/old#there", "There")+link("/old#gone", "Gone")+link("/own#gone", "Own")+link("/away#gone", "Away"))
	hops.Redirect("/old", "/older", http.StatusMovedPermanently)
	hops.Redirect("/older", "/new", http.StatusFound)
	hops.Redirect("/own", "/new#there", http.StatusFound)
	hops.Redirect("/away", "https://b.test/", http.StatusFound)
	hops.Page("/new", `<p id="there">x</p>`)
	web.Host("shut.test").Robots("User-agent: *\nDisallow: /\n")
	web.Host("away.test").Down(webtest.DownRefused)
	web.Host("rest.test").Page("/", link("/later", "Later"))
	web.Host("rest.test").Handle("/later", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "864000")
		w.WriteHeader(http.StatusTooManyRequests)
	})
}

// twinsWeb is a site that prints each of its articles in several places, once on another host.
func twinsWeb(web *webtest.Server) {
	a, b := web.Host("a.test"), web.Host("b.test")
	text := func(seed int) string {
		words := make([]string, 400)
		for i := range words {
			words[i] = fmt.Sprint("w", (i*i*31+i*seed*17+seed)%251)
		}
		return "<p>" + strings.Join(words, " ") + "</p>"
	}
	a.Page("/", "<title>Front</title>"+link("/one", "One")+link("/print/one", "Print")+link("/old/one", "Old")+
		link("/two", "Two")+link("https://b.test/two", "Copy")+link("/three", "Three")+link("/short", "Short"))
	a.Page("/one", text(1)+link("/two", "Next"))
	a.Page("/print/one", text(1)+link("/three", "Third"))
	a.Page("/old/one", text(1)+"<p>Archived</p>"+link("/two", "Next"))
	a.Page("/two", text(2)+link("/print/one", "Before"))
	a.Page("/three", text(3))
	a.Page("/short", "<p>Few words.</p>")
	b.Page("/two", text(2))
}

// foreignWeb is a quality site that links to two hosts with A-labels, one of which imitates another name, and to a
// missing page.
func foreignWeb(web *webtest.Server) {
	a := web.Host("a.test")
	a.Page("/", "<title>Front</title>"+link("https://bücher.test/", "Books")+link("https://pаypal.test/gone", "Money"))
	web.Host("xn--bcher-kva.test").Page("/", "<title>Books</title>"+link("https://a.test/", "Back")+
		link("/one", "One")+link("/two", "Two")+link("/three", "Three"))
	web.Host("xn--pypal-4ve.test").Robots("")
}

// silentWeb adds a page that links to a host which never answers a request for robots.txt, and to
// three that refuse TLS connections. It also adds three pages that no page links to: one always fails,
// one asks to wait once, and one leads to a page that never answers.
func silentWeb(web *webtest.Server) {
	text := link("https://hang.test/", "Hangs")
	for _, name := range []string{"down1.test", "down2.test", "down3.test"} {
		text += link("https://"+name+"/", "Down")
		web.Host(name).Down(webtest.DownRefused)
		web.Host("www." + name).Down(webtest.DownRefused)
	}
	web.Host("a.test").Page("/silent", text)
	web.Host("a.test").Status("/broken", http.StatusInternalServerError)
	asked := new(atomic.Int32)
	web.Host("a.test").Handle("/busy", func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	web.Host("a.test").Page("/mute", link("https://mute.test/", "Mute"))
	web.Host("mute.test").Handle("/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	web.Host("hang.test").Handle("/robots.txt", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// scriptExits runs a command that must end with an exit code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// scriptFiles checks that the folder contains exactly these names.
func scriptFiles(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs("."))
	ts.Check(err)
	var got []string
	for _, e := range entries {
		if e.Name() != ".tmp" && e.Name() != "tmp" {
			got = append(got, e.Name())
		}
	}
	slices.Sort(args)
	if slices.Equal(got, args) == neg {
		ts.Fatalf("the folder holds %s", strings.Join(got, " "))
	}
}

// scriptUntil repeats a command until its output matches.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP command...")
	}
	want := regexp.MustCompile("(?m)" + args[0])
	var out string
	says := func() bool {
		_ = ts.Exec(args[1], args[2:]...)
		out = ts.ReadFile("stdout")
		return want.MatchString(out)
	}
	if !rippletest.Soon(says) {
		ts.Fatalf("%s never said %q; at last:\n%s", strings.Join(args[1:], " "), args[0], out)
	}
}

// scriptHold holds the lock of a state file, which is created if it is missing.
func scriptHold(ts *testscript.TestScript, neg bool, args []string) {
	store, err := kv.Open(ts.MkAbs(args[0]), kv.Options{})
	ts.Check(err)
	ts.Defer(func() { store.Close() })
}

// scriptAwaits waits until a file exists, or is gone.
func scriptAwaits(ts *testscript.TestScript, neg bool, args []string) {
	there := func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return (err == nil) != neg
	}
	if !rippletest.Soon(there) {
		ts.Fatalf("waited for %s in vain", args[0])
	}
}

// contents returns the bytes of a file, or of all files in a folder.
func contents(t *testing.T, path string) []byte {
	t.Helper()
	names := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		names = nil
		for _, e := range entries {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	var all []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

func openDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
