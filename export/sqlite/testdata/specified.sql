-- The tables and columns that readers of the database may rely on.
CREATE TABLE runs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at      TEXT NOT NULL,
    finished_at     TEXT,
    config_hash     TEXT NOT NULL,
    status          TEXT NOT NULL
);
CREATE INDEX idx_runs_status ON runs(status);
CREATE TABLE pages (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    url             TEXT NOT NULL UNIQUE,
    domain          TEXT NOT NULL,
    state           TEXT NOT NULL,
    title           TEXT,
    status_code     INTEGER,
    content_type    TEXT,
    last_modified   TEXT,
    visited_at      TEXT,
    discovered_at   TEXT NOT NULL,
    discovered_run  INTEGER NOT NULL REFERENCES runs(id),
    error_message   TEXT,
    retry_count     INTEGER DEFAULT 0
);
CREATE INDEX idx_pages_domain ON pages(domain);
CREATE INDEX idx_pages_state ON pages(state);
CREATE INDEX idx_pages_discovered_run ON pages(discovered_run);
CREATE TABLE page_depths (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id         INTEGER NOT NULL REFERENCES pages(id),
    quality_origin  TEXT NOT NULL,
    depth           INTEGER NOT NULL,
    UNIQUE(page_id, quality_origin)
);
CREATE INDEX idx_page_depths_origin ON page_depths(quality_origin);
CREATE INDEX idx_page_depths_depth ON page_depths(depth);
CREATE TABLE links (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    from_page_id    INTEGER NOT NULL REFERENCES pages(id),
    to_page_id      INTEGER NOT NULL REFERENCES pages(id),
    discovered_run  INTEGER NOT NULL REFERENCES runs(id),
    UNIQUE(from_page_id, to_page_id)
);
CREATE INDEX idx_links_from ON links(from_page_id);
CREATE INDEX idx_links_to ON links(to_page_id);
CREATE TABLE blacklisted_urls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    url             TEXT NOT NULL UNIQUE,
    domain          TEXT NOT NULL,
    reference_count INTEGER DEFAULT 1,
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
CREATE TABLE stubbed_urls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    url             TEXT NOT NULL UNIQUE,
    domain          TEXT NOT NULL,
    reference_count INTEGER DEFAULT 1,
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
CREATE TABLE domain_states (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    domain              TEXT NOT NULL UNIQUE,
    request_count       INTEGER DEFAULT 0,
    rate_limited        INTEGER DEFAULT 0,
    robots_txt          TEXT,
    robots_fetched_at   TEXT
);
CREATE TABLE frontier (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id     INTEGER NOT NULL REFERENCES pages(id),
    priority    INTEGER NOT NULL,
    added_at    TEXT NOT NULL
);
CREATE INDEX idx_frontier_priority ON frontier(priority, added_at);
