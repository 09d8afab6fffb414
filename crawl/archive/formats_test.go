package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
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
	all, doubts, err := Entries(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(all) != 1 || all[0].Name != "archive/a.warc" ||
		string(file[all[0].Offset:all[0].Offset+all[0].Size]) != one {
		t.Errorf("%+v, %v", all, err)
	}
	if len(doubts) != 1 || doubts[0].Error() != "archive/a.warc: the manifest does not list it" {
		t.Errorf("%q", doubts)
	}
	for name, file := range map[string][]byte{
		"compressed": wacz(t, zip.Deflate, "archive/a.warc", strings.Repeat(one, 9)),
		"no archive": wacz(t, zip.Store, "archive/readme.txt", one), "no zip": page(1),
		"overlapping": overlapping(t, one),
	} {
		if all, _, err := Entries(bytes.NewReader(file), int64(len(file))); err == nil {
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
		all, _, err := Entries(bytes.NewReader(file), int64(len(file)))
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

// What is wrong with a manifest is named, and the WARC files are read all the same.
func TestManifest(t *testing.T) {
	one := string(page(1))
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(one)))
	list := func(resources ...string) string {
		text := `{"resources":[{"path":"pages/pages.jsonl","hash":"sha256:00"}`
		for i := 0; i < len(resources); i += 2 {
			text += fmt.Sprintf(`,{"path":%q,"hash":%q}`, resources[i], resources[i+1])
		}
		return text + "]}"
	}
	good := list("archive/a.warc", digest)
	for _, tt := range []struct {
		name, manifest, digest string
		want                   string // the doubt
	}{
		{"whole", good, fmt.Sprintf(`{"hash":"sha256:%x"}`, sha256.Sum256([]byte(good))), ""},
		{"another manifest", good, `{"hash":"` + digest + `"}`, "datapackage-digest.json: the manifest has another SHA-256"},
		{"digest that is none", good, "sha256", "datapackage-digest.json: invalid character"},
		{"md5", list("archive/a.warc", "md5:0cc175b9c0"), "", "archive/a.warc: the manifest states no SHA-256"},
		{"short digest", list("archive/a.warc", digest[:40]), "", "archive/a.warc: the manifest states no SHA-256"},
		{"twice", list("archive/a.warc", digest, "archive/a.warc", "md5:0"), "", ""},
		{"missing", list("archive/a.warc", digest, "archive/b.warc", digest), "", "archive/b.warc: the manifest lists it"},
		{"no manifest", "", "", "datapackage.json: there is none"},
		{"no JSON", "{", "", "datapackage.json: its JSON"},
		{"long", good + strings.Repeat(" ", maxManifest), "", "datapackage.json: it is too long"},
		{"many", list(slices.Repeat([]string{"x", ""}, maxResources)...), "", "datapackage.json: it lists too many files"},
	} {
		files := []string{"archive/a.warc", one}
		if tt.manifest != "" {
			files = append(files, "datapackage.json", tt.manifest)
		}
		if tt.digest != "" {
			files = append(files, "datapackage-digest.json", tt.digest)
		}
		file := wacz(t, zip.Store, files...)
		all, doubts, err := Entries(bytes.NewReader(file), int64(len(file)))
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %+v, %v", tt.name, all, err)
		}
		if text := fmt.Sprint(errors.Join(doubts...)); len(doubts) > 1 || tt.want == "" && doubts != nil ||
			!strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, doubts, tt.want)
		}
		if tt.want == "" && fmt.Sprintf("sha256:%x", all[0].SHA256) != digest {
			t.Errorf("%s: digest %x", tt.name, all[0].SHA256)
		}
	}
}

// A manifest that is written from what was read says the same.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"resources":[{"path":"archive/a.warc","hash":"sha256:` + strings.Repeat("0f", 32) + `"},{"path":"b"}]}`))
	f.Add([]byte(`{"resources":[{"path":"a","hash":7}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		listed, err := parseManifest(text)
		if err != nil {
			return
		}
		type resource struct{ Path, Hash string }
		var all []resource
		for path, sum := range listed {
			r := resource{Path: path}
			if sum != nil {
				r.Hash = fmt.Sprintf("sha256:%x", sum)
			}
			all = append(all, r)
		}
		again, err := json.Marshal(map[string][]resource{"resources": all})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseManifest(again); err != nil || !maps.EqualFunc(got, listed, bytes.Equal) {
			t.Errorf("%q, then %q, %v", listed, got, err)
		}
	})
}

// The digest is that of the whole file, also if parts of it are read twice or passed over.
func TestDigester(t *testing.T) {
	long := record("response", "https://a.test/long", strings.Repeat("x", maxUnread+1))
	files := packed(t)
	files["a long record"] = slices.Concat(page(1), long, page(2))
	files["damage"] = slices.Concat(zipped(t, page(1)), zipped(t, page(2))[:30], zipped(t, page(3)))
	for name, file := range files {
		d := NewDigester(bytes.NewReader(file), int64(len(file)))
		r, err := NewReader(d, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		r.Close()
		sum, failed := d.Sum()
		if want := sha256.Sum256(file); err != io.EOF || failed != nil || !bytes.Equal(sum, want[:]) {
			t.Errorf("%s: %x, %v, %v", name, sum, err, failed)
		}
	}
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
