-- The SQLite export of Ripple: the terrain as one reading of a state file.
--
-- Times are UTC, written 2026-01-15T10:30:00Z. Ids are those of the state file.
-- Indexes come after their tables; the export creates them after the load.
-- Columns are only ever added at the end.

-- Walks of the terrain. A run whose process is gone reads 'interrupted'.
CREATE TABLE runs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at      TEXT NOT NULL,
    finished_at     TEXT,               -- NULL: not finished
    config_hash     TEXT NOT NULL,      -- SHA-256 of the effective configuration, hexadecimal
    status          TEXT NOT NULL,      -- 'running', 'completed', 'interrupted'
    reason          TEXT,               -- why it ended
    pages           INTEGER NOT NULL,   -- visits that requested the page: "pages_requested" elsewhere
    requests        INTEGER NOT NULL,   -- of every kind
    rules           TEXT,               -- versions of the tables of rules that judged its answers ('walls'), and of those that this file was written by ('missing', 'parked')
    kind            TEXT NOT NULL,      -- 'crawl', or 'import': of web archives; runs are in the order of what they hold, but the last is a crawl if there is one
    oldest_capture_at TEXT,             -- of an import: when the oldest answer that it holds was given
    newest_capture_at TEXT              -- and the newest
);

CREATE INDEX idx_runs_status ON runs(status);

-- Every known page, including blacklisted and stub pages.
CREATE TABLE pages (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    url             TEXT NOT NULL UNIQUE,   -- its identity, normalised
    domain          TEXT NOT NULL,          -- its host
    state           TEXT NOT NULL,
    title           TEXT,
    status_code     INTEGER,
    content_type    TEXT,
    last_modified   TEXT,                   -- as the server wrote it
    visited_at      TEXT,
    discovered_at   TEXT NOT NULL,
    discovered_run  INTEGER NOT NULL REFERENCES runs(id),
    error_message   TEXT,                   -- why the state is not 'processed', or the rule that refuses the page
    retry_count     INTEGER DEFAULT 0,
    surt_key        TEXT NOT NULL,          -- com,example,blog)/path?query
    class           TEXT NOT NULL,          -- 'quality', 'blacklist', 'stub', 'discovered'
    rule            TEXT,                   -- the rule that gave the class or decided the state
    fetch_url       TEXT,                   -- the form that was requested last
    redirect_to     INTEGER REFERENCES pages(id),
    redirect_count  INTEGER NOT NULL,       -- length of the recorded chain of redirects that begins here
    referrer_id     INTEGER REFERENCES pages(id),
    charset         TEXT,
    etag            TEXT,
    content_length  INTEGER,                -- decoded bytes
    body_sha256     TEXT,                   -- of the decoded body, hexadecimal
    response_ms     INTEGER,
    noindex         INTEGER NOT NULL,
    nofollow        INTEGER NOT NULL,
    page_type       TEXT,
    stored_path     TEXT,                   -- in the page store
    server_date     TEXT,                   -- as the server wrote it
    first_run       INTEGER NOT NULL REFERENCES runs(id),
    last_run        INTEGER NOT NULL REFERENCES runs(id),
    needs_scripts   TEXT,                   -- signs that the page shows nothing without scripts; NULL: none
    rendered        TEXT,                   -- why it was rendered in a browser, and what was refused to it; NULL: it was not
    render_requests INTEGER NOT NULL,       -- resources that its scripts requested and got, including those fetched for other pages
    own             INTEGER,                -- 1: its own host names it; 0: only others do; NULL: the run has not met it
    answer          TEXT,                   -- 'challenge': the last visit met a wall, and what an earlier one found stands; 'soft404': what the host answers for any page that does not exist; 'parked': an offer to buy the domain; NULL: a page, or an error that says so
    answer_rule     TEXT,                   -- the rule that recognised it
    words           INTEGER,                -- of its text outside header, footer and navigation; NULL: it is not HTML
    simhash         TEXT,                   -- of its text, hexadecimal; near-duplicates differ in 3 of its 64 bits or less; NULL: too little text
    preferences     TEXT,                   -- what its owner says about its use, all statements together; NULL: nothing
    duplicate_of    INTEGER REFERENCES pages(id) -- the page that represents those of nearly the same text; NULL: it does, or there are none
);

CREATE INDEX idx_pages_domain ON pages(domain);
CREATE INDEX idx_pages_state ON pages(state);
CREATE INDEX idx_pages_discovered_run ON pages(discovered_run);

-- Links from an origin's own pages to a page, for each origin that leads there.
CREATE TABLE page_depths (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id         INTEGER NOT NULL REFERENCES pages(id),
    quality_origin  TEXT NOT NULL,          -- the domain of the [[quality]] entry
    depth           INTEGER NOT NULL,
    UNIQUE(page_id, quality_origin)
);

CREATE INDEX idx_page_depths_origin ON page_depths(quality_origin);
CREATE INDEX idx_page_depths_depth ON page_depths(depth);

-- One row per pair of pages.
CREATE TABLE links (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    from_page_id    INTEGER NOT NULL REFERENCES pages(id),
    to_page_id      INTEGER NOT NULL REFERENCES pages(id),
    discovered_run  INTEGER NOT NULL REFERENCES runs(id),
    kind            TEXT NOT NULL,          -- first of redirect, canonical, anchor, frame, refresh, feed, me, blogroll
    rel             TEXT,                   -- 'nofollow ugc sponsored': those that all links of the pair have
    place           TEXT NOT NULL,          -- the best: 'main', 'body', 'aside', 'header', 'footer', 'nav'; empty for a redirect
    anchor          TEXT,
    rendered        INTEGER NOT NULL,       -- 1: only the rendered page contains it
    last_run        INTEGER NOT NULL REFERENCES runs(id),
    sitewide        INTEGER NOT NULL,       -- 1: more than half of the pages of the host link there, of at least 10
    UNIQUE(from_page_id, to_page_id)
);

CREATE INDEX idx_links_from ON links(from_page_id);
CREATE INDEX idx_links_to ON links(to_page_id);

-- URLs of the blacklist that pages link to. They are never visited.
CREATE TABLE blacklisted_urls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    url             TEXT NOT NULL UNIQUE,
    domain          TEXT NOT NULL,
    reference_count INTEGER DEFAULT 1,      -- pages that link there
    first_seen_run  INTEGER NOT NULL REFERENCES runs(id)
);

CREATE INDEX idx_blacklisted_domain ON blacklisted_urls(domain);
CREATE INDEX idx_blacklisted_refs ON blacklisted_urls(reference_count DESC);

CREATE TABLE blacklisted_referrers (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    blacklisted_url_id  INTEGER NOT NULL REFERENCES blacklisted_urls(id),
    referrer_page_id    INTEGER NOT NULL REFERENCES pages(id),
    discovered_run      INTEGER NOT NULL REFERENCES runs(id),
    UNIQUE(blacklisted_url_id, referrer_page_id)
);

-- URLs of the stub list that pages link to. They are not visited.
CREATE TABLE stubbed_urls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    url             TEXT NOT NULL UNIQUE,
    domain          TEXT NOT NULL,
    reference_count INTEGER DEFAULT 1,      -- pages that link there
    first_seen_run  INTEGER NOT NULL REFERENCES runs(id)
);

CREATE INDEX idx_stubbed_domain ON stubbed_urls(domain);
CREATE INDEX idx_stubbed_refs ON stubbed_urls(reference_count DESC);

CREATE TABLE stubbed_referrers (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    stubbed_url_id  INTEGER NOT NULL REFERENCES stubbed_urls(id),
    referrer_page_id INTEGER NOT NULL REFERENCES pages(id),
    discovered_run  INTEGER NOT NULL REFERENCES runs(id),
    UNIQUE(stubbed_url_id, referrer_page_id)
);

-- Hosts that were sent a request, or whose robots.txt is known.
CREATE TABLE domain_states (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    domain              TEXT NOT NULL UNIQUE,
    request_count       INTEGER DEFAULT 0,  -- for pages, in the newest run
    rate_limited        INTEGER DEFAULT 0,  -- 1: suspended, or given up for its 429s
    robots_txt          TEXT,               -- the cached copy
    robots_fetched_at   TEXT
);

-- Pages that wait to be visited.
CREATE TABLE frontier (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id     INTEGER NOT NULL REFERENCES pages(id),
    priority    INTEGER NOT NULL,           -- smallest depth; lower is earlier
    added_at    TEXT NOT NULL               -- when the page was discovered
);

CREATE INDEX idx_frontier_priority ON frontier(priority, added_at);

-- Every kind of link between two pages. The kind feed is a link element with rel=alternate and the type of
-- a feed: it is not requested, since it is no page. The kinds me and blogroll are links with these
-- relations; a visible one is an anchor as well. A Link header means the same as a link element. An entry of
-- a list in OPML is a link of kind blogroll to the site, and of kind feed to its feed.
CREATE TABLE link_kinds (
    from_page_id    INTEGER NOT NULL REFERENCES pages(id),
    to_page_id      INTEGER NOT NULL REFERENCES pages(id),
    kind            TEXT NOT NULL,
    PRIMARY KEY (from_page_id, to_page_id, kind)
) WITHOUT ROWID;

-- Pages that redirect, and the status with which they do.
CREATE TABLE redirects (
    from_page_id    INTEGER PRIMARY KEY REFERENCES pages(id),
    to_page_id      INTEGER NOT NULL REFERENCES pages(id),
    status          INTEGER NOT NULL
);

-- What the [[extract]] entries found, in document order.
CREATE TABLE facts (
    page_id         INTEGER NOT NULL REFERENCES pages(id),
    name            TEXT NOT NULL,
    value           TEXT NOT NULL
);

CREATE INDEX idx_facts_page ON facts(page_id);
CREATE INDEX idx_facts_name ON facts(name);

-- Pages that sitemaps name.
CREATE TABLE sitemap_urls (
    page_id         INTEGER NOT NULL REFERENCES pages(id),
    sitemap_url     TEXT NOT NULL,
    lastmod         TEXT,
    changefreq      TEXT,
    linked          INTEGER NOT NULL        -- 1: a page links there too
);

CREATE INDEX idx_sitemap_urls_page ON sitemap_urls(page_id);

-- Hosts, and how well they are covered.
CREATE TABLE hosts (
    id              INTEGER PRIMARY KEY,
    domain          TEXT NOT NULL UNIQUE,
    site_id         INTEGER NOT NULL REFERENCES sites(id),
    class           TEXT NOT NULL,
    title           TEXT,                   -- of the front page
    min_depth       INTEGER,
    pages_known     INTEGER NOT NULL,
    pages_visited   INTEGER NOT NULL,       -- pages with a visit in the newest run, those that were kept without a request too
    crawl_count     INTEGER NOT NULL,       -- visits that made a request, all runs
    requests        INTEGER NOT NULL,       -- of every kind, all runs
    delay_ms        INTEGER NOT NULL,       -- promised between two requests, including the effect of time-outs
    coverage        TEXT NOT NULL,
    known_missing   INTEGER NOT NULL,       -- pages that were not visited, denied, blocked, or not even recorded
    links_omitted   INTEGER NOT NULL,       -- links of its pages that were not recorded
    tags            TEXT,                   -- tags that people gave it, separated by commas
    note            TEXT,                   -- note that people made
    need_scripts    INTEGER NOT NULL,       -- pages processed in the newest run that show nothing without their scripts, and were not rendered
    preferences     TEXT,                   -- what its robots.txt says about the use of pages, as written, a statement a line; NULL: nothing
    missing_pages   TEXT,                   -- its answer for a page that does not exist: 'honest' (404, 410), 'soft' (a page or a redirect), 'unknown'; NULL: not asked
    parked          TEXT,                   -- the rule by which the domain is for sale; NULL: it is not
    wall            TEXT,                   -- the rule of the walls that its pages or robots.txt met; 'suspected': nearly all show the same few words and lead nowhere; NULL: none
    duplicate_share REAL                    -- part of its pages with enough text that are near-duplicates of another page, 0 to 1; a cluster's representative is not counted; NULL: none has enough
);

-- Who links to origins from outside the terrain, by the web graph that "ripple import --graph" read
-- last: a sample of the web, so what is missing here may exist. Whatever the run, all of them. In a
-- graph of domains, host is a domain, and the link may be from and to any host below the domains.
CREATE TABLE inlinks (
    origin          TEXT NOT NULL,
    host            TEXT NOT NULL,          -- unknown to the terrain when the graph was read
    site            TEXT NOT NULL,          -- registrable domain of host
    release         TEXT NOT NULL,          -- of the graph
    harmonic_rank   INTEGER,                -- position of host by harmonic centrality, 1 is the best; NULL: unknown
    pagerank_rank   INTEGER                 -- position of host by PageRank, 1 is the best; NULL: unknown
);

CREATE INDEX idx_inlinks_origin ON inlinks(origin);
CREATE INDEX idx_inlinks_host ON inlinks(host);

-- Registrable domains.
CREATE TABLE sites (
    id              INTEGER PRIMARY KEY,
    site            TEXT NOT NULL UNIQUE,
    hosts           INTEGER NOT NULL,
    pages           INTEGER NOT NULL,
    overflow        INTEGER NOT NULL        -- links to further hosts, which were not recorded (max-hosts-per-site)
);

-- Nodes at entity level.
CREATE TABLE entities (
    id              INTEGER PRIMARY KEY,
    entity          TEXT NOT NULL UNIQUE,
    hosts           INTEGER NOT NULL,
    pages           INTEGER NOT NULL
);

-- Links between different hosts, sites and entities: how many pairs of pages, how many pages
-- link, how many of the pairs are endorsements (editorial), and how many lead to a target that most
-- pages of the host link to (sitewide). An endorsement is an anchor (link_kinds) in main, body or
-- aside that is not site-wide and has no rel flag: neither nofollow, ugc nor sponsored.
CREATE TABLE host_links (
    from_id         INTEGER NOT NULL REFERENCES hosts(id),
    to_id           INTEGER NOT NULL REFERENCES hosts(id),
    links           INTEGER NOT NULL,
    pages           INTEGER NOT NULL,
    editorial       INTEGER NOT NULL,
    first_run       INTEGER NOT NULL REFERENCES runs(id),
    last_run        INTEGER NOT NULL REFERENCES runs(id),
    sitewide        INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id)
) WITHOUT ROWID;

CREATE INDEX idx_host_links_to ON host_links(to_id);

CREATE TABLE site_links (
    from_id         INTEGER NOT NULL REFERENCES sites(id),
    to_id           INTEGER NOT NULL REFERENCES sites(id),
    links           INTEGER NOT NULL,
    pages           INTEGER NOT NULL,
    editorial       INTEGER NOT NULL,
    first_run       INTEGER NOT NULL REFERENCES runs(id),
    last_run        INTEGER NOT NULL REFERENCES runs(id),
    sitewide        INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id)
) WITHOUT ROWID;

CREATE INDEX idx_site_links_to ON site_links(to_id);

CREATE TABLE entity_links (
    from_id         INTEGER NOT NULL REFERENCES entities(id),
    to_id           INTEGER NOT NULL REFERENCES entities(id),
    links           INTEGER NOT NULL,
    pages           INTEGER NOT NULL,
    editorial       INTEGER NOT NULL,
    first_run       INTEGER NOT NULL REFERENCES runs(id),
    last_run        INTEGER NOT NULL REFERENCES runs(id),
    sitewide        INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id)
) WITHOUT ROWID;

CREATE INDEX idx_entity_links_to ON entity_links(to_id);

-- Graph metrics of pages. Degrees and components use all links. Trust, PageRank, harmonic
-- centrality and communities use endorsements between different hosts or, if the origins belong
-- to several sites, between different sites; with --links all, they use all links, too. They
-- equal those in suggest, GEXF, CSV, Parquet and the map, if those cover the same run and all its
-- nodes. PageRank: damping 0.85, until a step changes less than 1e-13; from a page without links
-- it jumps to any page. Trust: the same, but every jump leads to an origin's page, equally often
-- to each site of origins. At page level a link weighs 1.
CREATE TABLE page_metrics (
    page_id         INTEGER PRIMARY KEY REFERENCES pages(id),
    in_degree       INTEGER NOT NULL,       -- pages that link there
    out_degree      INTEGER NOT NULL,
    trust           REAL NOT NULL,          -- a share: all add up to 1
    pagerank        REAL NOT NULL,          -- a share: all add up to 1
    harmonic        REAL NOT NULL,          -- harmonic centrality: the sum of 1/distance from all pages that lead there
    component       INTEGER NOT NULL,       -- weakly connected component; 0 is the largest
    community       INTEGER NOT NULL        -- many links inside, few to others; 0 is the largest
);

-- Graph metrics of hosts and sites, by host_links and site_links. The weight of a link is the
-- number of its pairs of pages that count: all of them, or its endorsements.
CREATE TABLE host_metrics (
    host_id         INTEGER PRIMARY KEY REFERENCES hosts(id),
    in_degree       INTEGER NOT NULL,       -- hosts that link there
    out_degree      INTEGER NOT NULL,
    trust           REAL NOT NULL,
    pagerank        REAL NOT NULL,
    harmonic        REAL NOT NULL,
    component       INTEGER NOT NULL,
    community       INTEGER NOT NULL
);

CREATE TABLE site_metrics (
    site_id         INTEGER PRIMARY KEY REFERENCES sites(id),
    in_degree       INTEGER NOT NULL,
    out_degree      INTEGER NOT NULL,
    trust           REAL NOT NULL,
    pagerank        REAL NOT NULL,
    harmonic        REAL NOT NULL,
    component       INTEGER NOT NULL,
    community       INTEGER NOT NULL
);
