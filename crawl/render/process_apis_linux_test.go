package render

import (
	"bytes"
	"fmt"
	"testing"
)

// APIs that the browser's own process answers, in true time, answer before the page's time is over: every link is
// there, and renderings are the same.
func testProcessAPIs(t *testing.T, first, second *Renderer) {
	const links = 12
	for name, api := range map[string]struct{ call, last string }{
		"permissions": {`(await navigator.permissions.query({name: "geolocation"})).state +
			(await navigator.permissions.query({name: "push", userVisibleOnly: true})).name`, "deniedpush"},
		"cookies": {`(await cookieStore.set("n" + n, "v"),
			await cookieStore.set({name: "x", value: "=", expires: Date.now() + 9e4}),
			n > 5 && await cookieStore.delete("n1"),
			(await cookieStore.getAll()).length + (await cookieStore.get("n" + n)).value + (await cookieStore.get("x")).value)`, "12v="},
		"devices": {`(await navigator.mediaDevices.enumerateDevices()).length +
			await navigator.mediaDevices.getUserMedia({audio: true}).catch((e) => e.name)`, "0NotAllowedError"},
		"databases": {`(await indexedDB.databases()).length`, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			page := html("https://a.example/"+name, fmt.Sprintf(`<p id=out></p><script>
				setInterval(() => out.append("tick "), 700);
				(async () => {
					for (let n = 0; n < %d; n++) {
						const said = %s;
						out.insertAdjacentHTML("beforeend", "<a href=/" + n + ">" + said + "</a>");
					}
				})();
			</script>`, links, api.call))
			var want []byte
			for i := range 2 {
				got := render(t, []*Renderer{first, second}[i%2], page, web{}).DOM
				if want == nil {
					want = got
				}
				n := bytes.Count(got, []byte(`<a href="/`))
				if n != links || !bytes.Equal(got, want) || !bytes.Contains(got, []byte(api.last+"</a>")) {
					t.Fatalf("rendering %d has %d of %d links, wants %q last: %s", i+1, n, links, api.last, got)
				}
			}
		})
	}
}

// The time of a page stands still while a database answers, however often it is asked in a row.
func testManyTransactions(t *testing.T, r *Renderer) {
	got := render(t, r, html("https://a.example/many", `<p id=out></p><script>
		let ticks = 0, n = 0;
		setInterval(() => ticks++, 100);
		const opening = indexedDB.open("d", 1);
		opening.onupgradeneeded = () => opening.result.createObjectStore("s");
		const next = () => {
			if (++n > 80) { out.textContent = "ended after " + ticks; return; }
			const writing = opening.result.transaction("s", "readwrite");
			writing.objectStore("s").put("v", n);
			writing.oncomplete = next;
		};
		opening.onsuccess = next;
	</script>`), web{})
	if !bytes.Contains(got.DOM, []byte(">ended after 0<")) {
		t.Errorf("the page is %s", got.DOM)
	}
}

// Timers before the end of a page's time fire, and those at the end or later do not.
func testLastTimers(t *testing.T, r *Renderer) {
	got := render(t, r, html("https://a.example/last", `<p id=out></p><script>
		for (let i = 0; i < 20000; i++) Date.now(); // each reading is a millisecond later
		let ticks = 0;
		setInterval(() => out.textContent = "ticks " + ++ticks, 500);
		for (const due of [9990, 10000, 10100]) setTimeout(() => out.append(" after " + due), due);
	</script>`), web{})
	if !bytes.Contains(got.DOM, []byte(">ticks 19 after 9990<")) {
		t.Errorf("the page is %s", got.DOM)
	}
}
