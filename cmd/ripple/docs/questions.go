package docs

import (
	"fmt"
	"strings"
)

// A Question is a question about a map, with the SQL that answers it. The desk, "ripple help questions" and
// "ripple query --help" show the same ones.
type Question struct {
	Persona string `json:"persona"` // who usually asks it
	Asks    string `json:"asks"`
	SQL     string `json:"sql"` // without characters that a shell changes within double quotes
}

// Questions returns the built-in questions, those of one persona after another.
func Questions() []Question {
	return []Question{
		{"Researcher", "Which hosts matter most?", `SELECT domain, class, in_degree, round(trust, 4) AS trust
FROM host_metrics JOIN hosts ON id = host_id
ORDER BY host_metrics.trust DESC LIMIT 10`},
		{"Researcher", "Which hosts does only one origin link to?",
			`SELECT t.domain, min(d.quality_origin) AS origin, count(*) AS links
FROM page_depths d JOIN links l ON l.from_page_id = d.page_id JOIN pages t ON t.id = l.to_page_id
WHERE d.depth = 0 AND t.class = 'discovered'
GROUP BY 1 HAVING count(DISTINCT d.quality_origin) = 1
ORDER BY 3 DESC, 1`},
		{"Researcher", "How many pages are at each depth?", `SELECT depth, count(*) AS pages FROM page_depths
GROUP BY depth ORDER BY depth`},
		{"Librarian", "How many links of each origin are broken?", `SELECT d.quality_origin, count(*) AS broken
FROM page_depths d JOIN links l ON l.from_page_id = d.page_id JOIN pages t ON t.id = l.to_page_id
WHERE d.depth = 0 AND (t.state IN ('dead_link', 'unreachable', 'failed') OR t.answer = 'soft404')
AND t.error_message NOT LIKE 'denied by robots.txt%' AND t.error_message NOT LIKE 'walled%'
AND t.error_message NOT LIKE 'payment required%'
GROUP BY 1 ORDER BY 2 DESC`},
		{"Librarian", "Which types of documents are there?", `SELECT content_type, count(*) AS pages FROM pages
WHERE state IN ('processed', 'content_mismatch') GROUP BY 1 ORDER BY 2 DESC`},
		{"Librarian", "Which pages have moved, and where to?", `SELECT url, status_code, redirect_to FROM pages
WHERE redirect_to <> '' ORDER BY url`},
		{"Cartographer", "Who links to a page?", `SELECT f.url, l.anchor, l.place
FROM links l JOIN pages f ON f.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id
WHERE t.url = 'https://tidewater-maps.test/'`},
		{"Cartographer", "Who links to the origins from outside?", `SELECT host, count(*) AS origins, harmonic_rank, release
FROM inlinks GROUP BY host ORDER BY origins DESC, harmonic_rank IS NULL, harmonic_rank, host LIMIT 20`},
		{"Cartographer", "Where is coverage missing?",
			`SELECT domain, known_missing, coverage, pages_known, pages_visited
FROM hosts WHERE known_missing > 0 ORDER BY known_missing DESC`},
		{"Cartographer", "Which hosts link to each other most?",
			`SELECT a.domain AS from_host, b.domain AS to_host, h.links, h.editorial AS endorsements
FROM host_links h JOIN hosts a ON a.id = h.from_id JOIN hosts b ON b.id = h.to_id
WHERE h.from_id <> h.to_id ORDER BY h.links DESC, 1, 2 LIMIT 20`},
		{"SEO", "Which pages does no page link to?", `SELECT url, title FROM pages p
WHERE state = 'processed' AND NOT EXISTS (SELECT 1 FROM links WHERE to_page_id = p.id)`},
		{"SEO", "Which titles are the longest?", `SELECT url, length(title) AS characters, title FROM pages
WHERE class = 'quality' AND state = 'processed' ORDER BY characters DESC, url LIMIT 20`},
		{"SEO", "Which pages answer slowly?", `SELECT url, response_ms FROM pages
WHERE response_ms IS NOT NULL ORDER BY response_ms DESC, url LIMIT 20`},
		{"SEO", "Which pages ask not to be indexed?", `SELECT url, title FROM pages WHERE noindex ORDER BY url`},
		{"Security", "Which hosts failed, and why?", `SELECT domain, error_message, count(*) AS pages FROM pages
WHERE state IN ('failed', 'unreachable') GROUP BY 1, 2 ORDER BY 3 DESC, 1`},
		{"Security", "Which listed trackers do pages link to?", `SELECT domain, sum(reference_count) AS linking_pages
FROM blacklisted_urls GROUP BY 1 ORDER BY 2 DESC, 1`},
		{"Programmer", "How many pages are in each state?", `SELECT state, count(*) AS pages FROM pages
GROUP BY state ORDER BY pages DESC, state`},
		{"Programmer", "What failed, and why?", `SELECT error_message, count(*) AS pages, min(url) AS example
FROM pages WHERE state IN ('failed', 'unreachable', 'dead_link')
GROUP BY 1 ORDER BY 2 DESC`},
		{"Programmer", "How did each run end?", `SELECT id, started_at, finished_at, status, reason, pages, requests
FROM runs ORDER BY id`},
	}
}

// questionsText returns the built-in questions as Markdown.
func questionsText() string {
	var b strings.Builder
	b.WriteString("\n## Questions to ask the map\n\n" +
		"The desk offers these at Ask, by who usually asks them. A shell answers them, too.\n")
	persona := ""
	for _, q := range Questions() {
		if q.Persona != persona {
			persona = q.Persona
			fmt.Fprintf(&b, "\n### %s\n", persona)
		}
		fmt.Fprintf(&b, "\n%s\n\n```console\n$ ripple query \"%s\"\n```\n", q.Asks, strings.ReplaceAll(q.SQL, "\n", "\n    "))
	}
	return b.String()
}
