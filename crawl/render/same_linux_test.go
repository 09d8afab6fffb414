package render

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Values that depend on a clock, on chance or on ordering are the same in every rendering and in
// every process.
func testSame(t *testing.T, first, second *Renderer) {
	for name, page := range lively() {
		t.Run(name, func(t *testing.T) {
			want := render(t, first, page, livelyWeb())
			if !bytes.Contains(want.DOM, []byte("<b>end</b>")) || len(want.Missing) != 0 {
				t.Fatalf("the page did not end: %q, missing %v", want.DOM, want.Missing)
			}
			if d := cmp.Diff(string(want.DOM), string(render(t, second, page, livelyWeb()).DOM)); d != "" {
				t.Errorf("differs (-first +second):\n%s", d)
			}
		})
	}
}

// lively returns pages that depend on time, chance and answers; each ends with a bold "end".
func lively() map[string]Page {
	return map[string]Page{
		"timers": html("https://a.example/timers", `<p id=out></p><script>
			const say = (...all) => out.append(all.join(" "), "\n");
			let n = 0;
			const every = setInterval(() => say("tick", ++n, Date.now(), performance.now()), 250);
			setTimeout(say, 100, "once", new Date().toISOString());
			requestAnimationFrame(function frame(t) { say("frame", t); if (n < 4) requestAnimationFrame(frame); });
			requestIdleCallback(() => say("idle"));
			Promise.resolve().then(() => say("micro"));
			const channel = new MessageChannel;
			channel.port1.onmessage = () => say("message", Date.now());
			channel.port2.postMessage(1);
			setTimeout(() => { clearInterval(every); out.insertAdjacentHTML("beforeend", "<b>end</b>"); }, 4900);
		</script>`),
		"chance and dates": html("https://a.example/chance", `<p id=out></p><script>
			const say = (...all) => out.append(all.join(" "), "\n");
			for (let i = 0; i < 20; i++) say(Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint32Array(2)));
			say(new Date, Date(), Date.now(), new Date().toLocaleString(), new Intl.DateTimeFormat().format());
			say(performance.timeOrigin, performance.timing.navigationStart, document.lastModified, new Event("x").timeStamp);
			say(performance.getEntries().length, navigator.language, navigator.languages, navigator.hardwareConcurrency);
			say(innerWidth, innerHeight, devicePixelRatio, screen.width, screen.height, navigator.userAgent, navigator.platform);
			say(Intl.DateTimeFormat().resolvedOptions().timeZone, new Date().getTimezoneOffset());
			const began = Date.now();
			while (Date.now() - began < 50);
			const inner = document.body.appendChild(document.createElement("iframe")).contentWindow;
			say(inner.Math.random(), new inner.Date().getTime(), inner.performance.now());
			out.insertAdjacentHTML("beforeend", "<b>end</b>");
		</script>`),
		"data in any order": html("https://a.example/data", `<p id=out></p>
			<script src=/1.js async></script><script src=/2.js async></script><script src=/3.js defer></script><script type=module>
			const say = (...all) => out.append(all.join(" "), "\n");
			const get = async (n) => { const r = await fetch("/json/" + n); say("got", (await r.json()).n, Date.now()); };
			say("raced", await Promise.race([1, 2, 3, 4, 5, 6].map(async (n) => { await get(n); return n; })));
			await Promise.all([6, 5, 4, 3, 2, 1].map(get));
			say((await import("/m.js")).default);
			const x = new XMLHttpRequest;
			x.open("GET", "/json/1", false); x.send(); say(x.responseText);
			out.insertAdjacentHTML("beforeend", "<b>end</b>");
		</script>`),
		"a lazy list and its routes": html("https://a.example/list", `<ul id=list></ul><p id=more>more</p><script>
			let n = 0;
			new IntersectionObserver(async ([entry]) => {
				if (!entry.isIntersecting) return;
				for (const item of (await (await fetch("/items/" + n++)).json())) {
					list.insertAdjacentHTML("beforeend", '<li style="height: 300px"><a href="' + item + '">' + item + '</a>');
				}
				history.pushState(n, "", "/list/" + n);
				if (n === 2) list.insertAdjacentHTML("beforeend", "<b>end</b>");
			}, {rootMargin: "0px"}).observe(more);
			new ResizeObserver(([entry]) => more.title += " " + entry.contentRect.height).observe(list);
		</script>`),
		"a database": html("https://a.example/base", `<p id=out></p><script>
			const say = (...all) => out.append(all.join(" "), "\n");
			const asked = indexedDB.open("d", 1), never = setTimeout(say, 1, "never");
			setTimeout(say, 3, "timer");
			asked.onupgradeneeded = () => asked.result.createObjectStore("s");
			asked.onsuccess = () => {
				clearTimeout(never);
				const writing = asked.result.transaction("s", "readwrite");
				writing.objectStore("s").put("kept", "k");
				writing.oncomplete = () => {
					const got = asked.result.transaction("s").objectStore("s").get("k");
					got.onsuccess = () => { say(got.result, Date.now()); out.insertAdjacentHTML("beforeend", "<b>end</b>"); };
				};
			};
		</script>`),
		"locks and caches": html("https://a.example/kept", `<p id=out></p><script>
			const say = (...all) => out.append(all.join(" "), "\n");
			setInterval(() => say("tick"), 500);
			(async () => {
				say(await navigator.locks.request("a", async (lock) => lock.name), Date.now());
				await Promise.all([1, 2].map((n) => navigator.locks.request("b", async () => {
					say("in", n);
					await new Promise((over) => setTimeout(over, 700));
					say("out", n);
				})));
				const cache = await caches.open("c");
				await cache.put("/x", new Response("kept"));
				await cache.add("/json/1");
				say(await (await caches.match("/x")).text(), (await cache.keys()).map((r) => r.url), Date.now());
				say((await navigator.storage.estimate()).quota, await navigator.storage.persist());
				await navigator.storage.getDirectory().catch((e) => say(e));
				out.insertAdjacentHTML("beforeend", "<b>end</b>");
			})();
		</script>`),
		"what is refused": html("https://a.example/refused", `<p id=out></p><script>
			const say = (...all) => out.append(all.join(" "), "\n");
			const closed = [new WebSocket("wss://a.example/"), new EventSource("/events"), new Worker("/w.js"), new SharedWorker("/w.js")];
			for (const made of closed) {
				made.onerror = () => say(made.constructor.name, "error", Date.now());
			}
			for (const n of [1, 2, 3]) { const i = new Image; i.onerror = i.onload = () => say("image", n); i.src = "/" + n + ".png"; }
			say("serviceWorker" in navigator, typeof RTCPeerConnection, typeof WebTransport, navigator.sendBeacon("/b"));
			fetch("/json/1", {method: "PUT"}).catch((e) => say(e));
			setTimeout(() => out.insertAdjacentHTML("beforeend", "<b>end</b>"), 9000);
		</script>`),
	}
}

func livelyWeb() web {
	w := web{
		"https://a.example/1.js": `document.getElementById("out").append("one ", Date.now(), "\n")`,
		"https://a.example/2.js": `document.getElementById("out").append("two ", Date.now(), "\n")`,
		"https://a.example/3.js": `document.getElementById("out").append("three ", document.readyState, "\n")`,
		"https://a.example/m.js": `export default "module"`,
	}
	for n := range 10 {
		digit := string(rune('0' + n))
		w["https://a.example/json/"+digit] = `{"n": ` + digit + `}`
		w["https://a.example/items/"+digit] = `["/item/` + digit + `a", "/item/` + digit + `b"]`
	}
	return w
}

// A killed browser costs the attempt, and does not affect the next one.
func testKills(t *testing.T, r *Renderer) {
	page := lively()["data in any order"]
	want := render(t, r, page, livelyWeb())
	b := <-r.idle
	r.idle <- b
	killed := time.AfterFunc(200*time.Millisecond, func() { kill(b.group) })
	defer killed.Stop()
	endless := html("https://endless.example/", `<script>for (;;);</script>`) // the first of its process
	if _, err := r.Render(t.Context(), endless, web{}); err == nil {
		t.Error("a page without end was rendered by a browser that was killed")
	}
	if d := cmp.Diff(want, render(t, r, page, livelyWeb())); d != "" {
		t.Errorf("the rendering after a kill differs (-want +got):\n%s", d)
	}
}
