package apps

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A livelyPage is a page whose scripts use what a browser does in its own time, and call link for what
// they have found.
type livelyPage struct {
	links int
	body  string
}

var lively = map[string]livelyPage{
	"database": {5, `<script>
		const opening = indexedDB.open("d", 1);
		opening.onupgradeneeded = () => opening.result.createObjectStore("s");
		opening.onsuccess = () => {
			const writing = opening.result.transaction("s", "readwrite");
			for (let i = 0; i < 4; i++) writing.objectStore("s").put("item" + i, i);
			writing.oncomplete = () => {
				const all = opening.result.transaction("s").objectStore("s").getAll();
				all.onsuccess = () => link(...all.result);
			};
		};
		setTimeout(link, 2, "timer");
	</script>`},
	"locks": {3, `<script>
		for (const n of [1, 2, 3]) navigator.locks.request("one", async () => {
			await new Promise((over) => setTimeout(over, 400));
			link("held" + n);
		});
	</script>`},
	"caches": {3, `<script type=module>
		const cache = await caches.open("c");
		await cache.add("/data/1.json");
		await cache.put("/own", new Response("own"));
		link(await (await caches.match("/own")).text(), (await (await cache.match("/data/1.json")).json()).name,
			"keys" + (await cache.keys()).length);
	</script>`},
	"animations": {3, `<style>#a { transition: opacity 300ms } .gone { opacity: 0 }</style><i id=a>a</i><script>
		a.ontransitionend = () => link("transition");
		setTimeout(() => a.className = "gone", 500);
		a.animate([{ left: 0 }, { left: "9px" }], 700).finished.then(() => link("finished"));
		a.animate([{ left: 0 }, { left: "9px" }], 200).onfinish = () => link("event");
	</script>`},
	"preloads": {2, `<link rel=preload as=fetch crossorigin href=/data/2.json><link rel=modulepreload href=/early.mjs>
		<script type=module>
			import { name } from "/early.mjs";
			link(name, (await (await fetch("/data/2.json")).json()).name);
		</script>`},
	"images": {4, `<script>
		for (const n of [1, 2, 3]) {
			const image = new Image;
			image.onload = image.onerror = () => link("image" + n);
			image.src = "/" + n + ".png";
		}
	</script><img src="data:image/svg+xml,<svg/>" onload="link('drawn')">`},
	"races": {6, `<script type=module>
		const get = async (n) => (await (await fetch("https://far.test/data/" + n + ".json")).json()).name;
		link("first-" + await Promise.race([3, 1, 2].map(get)), ...await Promise.all([1, 2, 3].map(get)));
		link("at" + Date.now() % 1000, "by" + Math.random());
	</script>`},
	"modules":         {depth, `<script type=module src=https://far.test/m/1.mjs></script>`},
	"modules-as-well": {depth + 1, `<script type=module>import "https://far.test/m/1.mjs"; link("own")</script>`},
}

// depth is the number of modules that import each other, one by one.
const depth = 12

// Lively serves pages at lively.test whose links depend on databases, locks, caches, animations, preloads, images and
// the order of answers, and on deep modules of another host: the named ones, or all. It returns how many links their
// scripts make, and how many pages they are.
func Lively(s *webtest.Server, names ...string) (links, pages int) {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(lively))
	}
	near, far := s.Host("lively.test"), s.Host("far.test")
	serve := func(h *webtest.Host, at, kind, body string) {
		h.Handle(at, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Access-Control-Allow-Origin", "*")
			_, _ = io.WriteString(w, body) // the peer may have left
		})
	}
	near.Page("/", "<p><a href=/"+strings.Join(names, ">page</a> <a href=/")+">page</a>")
	for _, name := range names {
		page := lively[name]
		links += page.links
		near.Page("/"+name,
			`<!doctype html><title>`+name+`</title><div id=app></div><script src=/link.js></script>`+page.body)
	}
	serve(near, "/link.js", "text/javascript", `const link = (...names) => names.forEach((name) =>
		app.insertAdjacentHTML("beforeend", "<a href='" + location.pathname + "/" + name + "'>" + name + "</a>"));`)
	serve(near, "/early.mjs", "text/javascript", `export const name = "early";`)
	for n := 1; n <= 3; n++ {
		for _, h := range []*webtest.Host{near, far} {
			serve(h, fmt.Sprintf("/data/%d.json", n), "application/json", fmt.Sprintf(`{"name": "data%d"}`, n))
		}
	}
	for n := 1; n < depth; n++ {
		serve(far, fmt.Sprintf("/m/%d.mjs", n), "text/javascript", fmt.Sprintf(`import "./%d.mjs"; link("m%d");`, n+1, n))
	}
	serve(far, fmt.Sprintf("/m/%d.mjs", depth), "text/javascript", `link("last");`)
	return links, len(names)
}
