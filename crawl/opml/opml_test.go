package opml_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/opml"
)

// utf16le encodes a text as UTF-16 with a byte order mark.
func utf16le(s string) string {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune("\ufeff"+s)))
	return b.String()
}

func read(body, contentType string) (title string, all []opml.Outline) {
	title = opml.Read([]byte(body), contentType, func(o opml.Outline) { all = append(all, o) })
	return title, all
}

func TestRead(t *testing.T) {
	ann := opml.Outline{Text: "Ann", HTML: "https://ann.test/", Feed: "https://ann.test/feed"}
	const outline = `<outline text="Ann" htmlUrl="https://ann.test/" xmlUrl="https://ann.test/feed"/>`
	tests := []struct {
		name, body, contentType string
		title                   string
		want                    []opml.Outline
	}{
		{name: "whole", title: "Blogs I read", want: []opml.Outline{ann}, body: `<?xml version="1.0"?><opml version="2.0">
			<head><title> Blogs I read </title></head><body>` + outline + `</body></opml>`},
		{name: "folders", want: []opml.Outline{ann, {HTML: "/b"}},
			body: `<opml><body><outline text="Friends">` + outline + `<outline htmlUrl="/b"/></outline></body></opml>`},
		{name: "title for text", want: []opml.Outline{{Text: "Ben & Cat", Feed: "/f?a&b"}},
			body: `<OPML><Outline title="Ben &amp; Cat" xmlURL=" /f?a&amp;b "/></OPML>`},
		{name: "UTF-16", body: utf16le(`<?xml version="1.0" encoding="UTF-16"?><opml>` + outline + `</opml>`),
			want: []opml.Outline{ann}},
		{name: "charset of the answer", body: "<opml><outline text='\xcd\xc9\xd2' htmlUrl='/'/></opml>",
			contentType: "text/xml; charset=koi8-r", want: []opml.Outline{{Text: "мир", HTML: "/"}}},
		{name: "cut off", body: "<opml><head><title>A</title>" + outline + `<outline htmlUrl="https://b`, title: "A",
			want: []opml.Outline{ann}},
		{name: "damaged", body: "<opml><outline text=<< >" + outline + "</nothing>" + outline, want: []opml.Outline{ann, ann}},
		{name: "declared entities", want: []opml.Outline{{Text: "&b;", HTML: "/"}},
			body: `<!DOCTYPE o [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>` +
				`<opml><outline text="&b;" htmlUrl="/"/></opml>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			title, got := read(tt.body, tt.contentType)
			if diff := cmp.Diff(tt.want, got); diff != "" || title != tt.title {
				t.Errorf("title %q; outlines (-want +got):\n%s", title, diff)
			}
			if !opml.Is([]byte(tt.body), tt.contentType) {
				t.Error("not taken for OPML")
			}
		})
	}
}

func TestIs(t *testing.T) {
	for _, body := range []string{"", "opml", "<rss><opml>", "<html><body><opml>", "<!-- <opml> --><feed>", "{}"} {
		if opml.Is([]byte(body), "text/xml") {
			t.Errorf("%q is taken for OPML", body)
		}
	}
	if body := "\ufeff<?xml version='1.0'?><!-- a --><!DOCTYPE opml>\n<opml>"; !opml.Is([]byte(body), "text/xml") {
		t.Errorf("%q is not taken for OPML", body)
	}
}

// Whatever a list repeats, memory stays small, and what was readable before counts.
func TestHostile(t *testing.T) {
	const size, most = 10 << 20, 4 << 20
	for name, unit := range map[string]string{"outlines": `<outline text="a"/>`, "nested": `<outline htmlUrl="">`,
		"attribute": "a", "attributes": ` a="b"`, "entities": "&a;", "directives": "<!a [<", "damage": "<<3", "comment": "-"} {
		t.Run(name, func(t *testing.T) {
			head := `<opml><outline htmlUrl="/good"/>`
			switch name {
			case "attribute", "entities":
				head += `<outline text="`
			case "attributes":
				head += "<outline"
			case "comment":
				head += "<!--"
			}
			body := []byte(head + strings.Repeat(unit, size/len(unit)))
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			n := 0
			opml.Read(body, "", func(opml.Outline) { n++ })
			runtime.GC()
			if runtime.ReadMemStats(&now); n != 1 || now.HeapAlloc > before.HeapAlloc+most {
				t.Errorf("%d outlines; heap from %d to %d bytes", n, before.HeapAlloc, now.HeapAlloc)
			}
			runtime.KeepAlive(body)
		})
	}
}

// FuzzRead checks that outlines lead somewhere, and that a file is always read the same way.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`<opml><head><title>A</title></head><outline text="a&amp;b" htmlUrl="/a" xmlUrl="/f"/></opml>`), "text/xml")
	f.Add([]byte(utf16le(`<opml><outline title='a' htmlUrl='/a'>`)), "text/x-opml; charset=utf-16")
	f.Add([]byte("<!DOCTYPE o [<!ENTITY a 'b'>]><opml><<3 <outline htmlurl=&a;>"), "application/xml")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		title, all := read(string(body), contentType)
		if len(title) > 8<<10 || strings.TrimSpace(title) != title {
			t.Errorf("title %q", title)
		}
		for _, o := range all {
			if o.HTML+o.Feed == "" || strings.TrimSpace(o.HTML+o.Feed) == "" {
				t.Errorf("an outline leads nowhere: %+v", o)
			}
		}
		if again, same := read(string(body), contentType); again != title || cmp.Diff(all, same) != "" {
			t.Error("two readings differ")
		}
		if bytes.HasPrefix(body, []byte("<opml>")) && !opml.Is(body, "") {
			t.Error("not taken for OPML")
		}
	})
}
