package archive

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// wacz returns a WACZ file of files with their compression.
func wacz(t testing.TB, method uint16, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEntries(t *testing.T) {
	one := string(page(1))
	file := wacz(t, zip.Store, "datapackage.json", "{}", "archive/a.warc", one, "archive/b.cdx", "", "../archive/c.warc", one)
	all, err := Entries(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(all) != 1 || all[0].Name != "archive/a.warc" ||
		string(file[all[0].Offset:all[0].Offset+all[0].Size]) != one {
		t.Errorf("%+v, %v", all, err)
	}
	for name, file := range map[string][]byte{
		"compressed": wacz(t, zip.Deflate, "archive/a.warc", strings.Repeat(one, 9)),
		"no archive": wacz(t, zip.Store, "archive/readme.txt", one), "no zip": page(1),
		"overlapping": overlapping(t, one),
	} {
		if all, err := Entries(bytes.NewReader(file), int64(len(file))); err == nil {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// overlapping returns a WACZ file whose index lists one file a hundred times.
func overlapping(t testing.TB, content string) []byte {
	t.Helper()
	file := wacz(t, zip.Store, "archive/a.warc", strings.Repeat(content, 50))
	at := bytes.Index(file, []byte("PK\x01\x02"))
	end := bytes.LastIndex(file, []byte("PK\x05\x06"))
	entry, tail := file[at:end], bytes.Clone(file[end:])
	many := bytes.Repeat(entry, 100)
	tail[8], tail[10] = 100, 100
	for i := range 4 {
		tail[12+i] = byte(len(many) >> (8 * i))
	}
	return append(append(bytes.Clone(file[:at]), many...), tail...)
}

func FuzzEntries(f *testing.F) {
	f.Add(wacz(f, zip.Store, "archive/a.warc", string(page(1))))
	f.Add(overlapping(f, string(page(1))))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := Entries(bytes.NewReader(file), int64(len(file)))
		sum := int64(0)
		for _, e := range all {
			sum += e.Size
			if e.Offset < 0 || e.Size < 0 || e.Offset+e.Size > int64(len(file)) {
				t.Errorf("%+v is outside of the file", e)
			}
		}
		if sum > int64(len(file)) || err == nil && len(all) == 0 {
			t.Errorf("%d entries of %d bytes, %v", len(all), sum, err)
		}
	})
}

const watRecord = `{"Container":{"Filename":"x"},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":
"application/http; msgtype=response","HTTP-Response-Metadata":{"Response-Message":{"Status":"200","Reason":"OK"},
"Headers":{"Content-Type":"text/html; charset=latin1","Server":"x"},"HTML-Metadata":{"Head":{"Title":"A <title>",
"Base":"http://a.test/b/","Metas":[{"name":"robots","content":"nofollow"}],"Link":[{"path":"LINK@/href","rel":"canonical",
"url":"/c"}]},"Links":[{"path":"A@/href","url":"two?a=1&b=2","text":"to \"two\""},{"path":"IMG@/src","url":"x.png"},
{"path":"A@/href","url":"three","rel":"nofollow","text":7},{"path":"IFRAME@/src","url":"four"}]}}},
"WARC-Header-Metadata":{"WARC-Type":"response","WARC-Target-URI":"http://a.test/"}}}`

func TestLinks(t *testing.T) {
	a, err := parseLinks([]byte(watRecord))
	if err != nil {
		t.Fatal(err)
	}
	want := `<base href="http://a.test/b/"><title>A &lt;title&gt;</title><meta name="robots" content="nofollow">` +
		`<link rel="canonical" href="/c"><a href="two?a=1&amp;b=2" rel="">to &#34;two&#34;</a>` + "\n" +
		`<a href="three" rel="nofollow"></a>` + "\n" + `<iframe src="four"></iframe>` + "\n"
	if string(a.Body) != want || a.Status != 200 || a.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
		len(a.Header) != 1 {
		t.Errorf("%d %v\n%s\nwant\n%s", a.Status, a.Header, a.Body, want)
	}
	for _, other := range []string{strings.Replace(watRecord, `"response"`, `"request"`, 1), "{}"} {
		if _, err := parseLinks([]byte(other)); err != errNoResponse {
			t.Errorf("%.60s: %v", other, err)
		}
	}
}

// What a description says cannot end an element or an attribute of the page that is made of it.
func FuzzLinks(f *testing.F) {
	f.Add([]byte(watRecord))
	f.Add([]byte(`{"Envelope":{"Payload-Metadata":{"HTTP-Response-Metadata":[]}}}`))
	f.Fuzz(func(t *testing.T, block []byte) {
		a, err := parseLinks(block)
		if err != nil {
			return
		}
		if n := bytes.Count(a.Body, []byte("<title>")); n != 1 {
			t.Errorf("%d titles in %q", n, a.Body)
		}
		if strings.ContainsAny(a.Header.Get("Content-Type"), "\r\n") {
			t.Errorf("%q", a.Header)
		}
	})
}
