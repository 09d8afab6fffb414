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
			for i := range 6 {
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
