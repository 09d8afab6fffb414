package robots_test

import (
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/robots"
)

func Example() {
	body := []byte("User-agent: *\nCrawl-delay: 2\nDisallow: /private/\nAllow: /private/press$\n")
	rules := robots.Parse(body, "Ripple/1.0")
	delay, _ := rules.CrawlDelay()
	fmt.Printf("group %s, %v between requests\n", rules.Agent(), delay)
	for _, path := range []string{"/private/a?b", "/private/press", "/"} {
		v := rules.Check(path)
		fmt.Printf("%s: allowed %v by line %d, %q\n", path, v.Allowed, v.Line, v.Rule)
	}
	// Output:
	// group *, 2s between requests
	// /private/a?b: allowed false by line 3, "Disallow: /private/"
	// /private/press: allowed true by line 4, "Allow: /private/press$"
	// /: allowed true by line 0, ""
}
