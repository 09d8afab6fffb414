package webtest_test

import (
	"fmt"
	"net/http"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

func Example() {
	web, err := webtest.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer web.Close()
	site := web.Host("alder.test")
	site.Robots("User-agent: *\nDisallow: /private/\n")
	site.Page("/", `<a href="/busy">busy</a>`).ETag(`"1"`).Gzip()
	site.Page("/busy", "calm again").Times(1, 429, http.Header{"Retry-After": {"1"}})
	site.Page("/broken", "half of this").Fault(fault.ResetMidBody)

	client := &http.Client{Transport: web.Transport()}
	for range 2 {
		resp, err := client.Get("https://alder.test/busy")
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	for _, line := range webtest.CheckLog(web.Log(), webtest.RobotsFirst())[:1] {
		fmt.Println(line[:len("alder.test: GET /busy (429)")])
	}
	client.CloseIdleConnections()
	// Output:
	// 429 Too Many Requests
	// 200 OK
	// alder.test: GET /busy (429)
}
