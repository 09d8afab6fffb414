package exchange

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// The encoding of letters is part of the protocol. A change needs a new protocol number in package node:
// nodes of different versions understand each other only in part.
func TestLetterIsAsAgreed(t *testing.T) {
	l := letter{
		Terrain: []byte("terrain of bytes"), To: 1, From: 2, Opening: []byte("opening of bytes"), Commit: 3, Run: 4, Configuration: 5,
		Referrals: []ring.Referral{
			{URL: "https://a.test/", Forms: []string{"https://a.test/"}},
			{Kind: schema.KindSitemap, URL: "https://b.test/", Forms: []string{"https://b.test/", "http://b.test/"}, Own: 1, HTTPS: true,
				Told: schema.Inbound{Depth: 2, Hops: 1, Listed: true, Changed: time.Unix(1e9, 0)}, FromOrigin: true,
				Sitemap: "c.test", Vouchers: []string{"=*.b.test", "b.test"}},
		},
	}
	const want = `{"terrain":"dGVycmFpbiBvZiBieXRlcw==","from":2,"to":1,"opening":"b3BlbmluZyBvZiBieXRlcw==","commit":3,"run":4,` +
		`"configuration":5}` + "\n" +
		"\x00\x00\x00\x00\x0fhttps://a.test/\x01\x00\x00" +
		"\x00" +
		"\x01\x1f\x02\x01\x0fhttps://b.test/\x11\x01\x00\x0ehttp://b.test/\x80\xa8ֹ\a" +
		"\x06c.test\x02\t=*.b.test\x06b.test"
	if diff := cmp.Diff(want, string(l.text())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Truncated letters, and letters with trailing data, are invalid.
func TestLetterIsWhole(t *testing.T) {
	l := newShard(t).letterTo()
	text, head := written(l), len(strictjson.Encode(l))+1
	for n := range len(text) {
		if _, err := decodeLetter(text[:n]); (err == nil) != (n == head || n == head-1) {
			t.Errorf("the first %d bytes of %d, of which %d are the head: %v", n, len(text), head, err)
		}
	}
	fields := "\x00\x00\x00" // depth, hops, and the length of the URL
	for _, more := range []string{
		"\x00", "\x00\x20" + fields + "\x01\x00\x00\x00", "\x00\x00" + fields + "\x05\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x04a",
		"\x00\x10" + fields + "\x01\x00\x00\x09s\x00", "\x00\x00" + fields + "\x01\x00\x00\x65",
		"\x00\x04" + fields + "\x01\x00\x00\xff",
	} {
		if _, err := decodeLetter(append(text[:len(text):len(text)], more...)); err == nil {
			t.Errorf("it may go on with %q", more)
		}
	}
}

// Letters hold as much as fits, and all of them together everything.
func TestLetterSize(t *testing.T) {
	var paths []string
	for i := range 150 {
		paths = append(paths, fmt.Sprintf("/%d?%s", i, strings.Repeat("x", 9000)))
	}
	s := newShard(t)
	s.update(func(tx *kv.Tx) (err error) {
		for _, path := range paths {
			err = errors.Join(err, s.meet(tx, path))
		}
		return err
	})
	letters := 0
	sender := NewSender(s, scripted(func(l letter) (answer, error) {
		if letters++; len(l.Referrals) == 0 {
			return answer{Verdict: lacks, Opening: here()}, nil
		}
		return answer{Verdict: done, Opening: here(), Commit: 7}, nil
	}), 1)
	for i := 0; s.marked() > 0 && i < 100; i++ {
		steps(t, sender, 1)
	}
	if s.marked() != 0 || letters < 5 || letters > 10 {
		t.Errorf("%d pages are left after %d letters", s.marked(), letters)
	}
}

// The largest message that a shard may have for another, or errand, fits into a letter; otherwise a run would
// stay open forever. URLs have up to 64 KiB, their forms up to 32 KiB, and in JSON a backslash takes two
// bytes.
func TestLargestFits(t *testing.T) {
	sized := func(fill string, size int) string {
		head := "https://a.test/?"
		return head + strings.Repeat(fill, size-len(head))
	}
	long := func(fill string) string { return sized(fill, 64<<10) }
	numbers := letter{
		Terrain: make([]byte, 16), Opening: make([]byte, 16), From: shard.MaxShards - 1, To: shard.MaxShards - 2,
		Commit: math.MaxUint64, Run: math.MaxUint64, Configuration: math.MaxUint64,
	}
	referral, script := numbers, numbers
	referral.Referrals = []ring.Referral{{
		URL: long("a"), Forms: slices.Repeat([]string{sized("&", 32<<10)}, maxOthers), HTTPS: true,
		Told:       schema.Inbound{Listed: true, Changed: time.Unix(math.MaxInt64, 0)},
		FromOrigin: true, Sitemap: strings.Repeat("s", 255),
		Vouchers: slices.Repeat([]string{strings.Repeat("v", 255)}, kv.MaxVouchers),
	}}
	script.Errand = &errand{ID: math.MaxUint64, URL: long(`\`), Asset: true, At: math.MaxInt}
	for name, l := range map[string]letter{"a referral": referral, "an errand": script} {
		if _, err := decodeLetter(l.text()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	body := make([]byte, maxPiece)
	for name, r := range map[string]report{
		"a redirect": {Location: long(`\`), Piece: body},
		"a script":   {Header: http.Header{"X": {strings.Repeat("<", 64<<10)}}, Piece: body},
	} {
		r.Status, r.Detail, r.Size, r.Sum = 999, strings.Repeat("x", 1000), math.MaxInt, math.MaxUint64
		text := strictjson.Encode(answer{Verdict: contains, Opening: here(), Commit: math.MaxUint64, Report: &r})
		if _, err := decodeAnswer(text); err != nil {
			t.Errorf("the answer with %s: %v", name, err)
		}
	}
}

// FuzzLetter: any input is answered, and decoding and encoding a letter is lossless.
func FuzzLetter(f *testing.F) {
	s := newShard(f)
	f.Add(written(s.letterTo()))
	f.Add([]byte(`{"terrain":"AQAAAAAAAAAAAAAAAAAAAA==","opening":"AQAAAAAAAAAAAAAAAAAAAA==","from":1}` +
		"\n\x00\x0f\x00\x00\x00\x01\x00\x01\x00"))
	f.Add([]byte(`{} {}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := NewReceiver(s).Answer(text); err != nil {
			t.Fatal(err)
		}
		l, err := decodeLetter(text)
		if err != nil {
			return
		}
		again, err := decodeLetter(written(l))
		if len(written(l)) <= MaxLetter && (err != nil || !cmp.Equal(l, again)) {
			t.Errorf("%+v is read as %+v, %v", l, again, err)
		}
	})
}

// FuzzAnswer: decoding and encoding an answer is lossless.
func FuzzAnswer(f *testing.F) {
	f.Add(strictjson.Encode(answer{Verdict: done, Opening: here(), Commit: 1, Run: 2, Configuration: 3}))
	f.Add([]byte(`{"verdict":"refused"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := decodeAnswer(text)
		if err != nil {
			return
		}
		if again, err := decodeAnswer(strictjson.Encode(a)); err != nil || !cmp.Equal(a, again) {
			t.Errorf("%+v is read as %+v, %v", a, again, err)
		}
	})
}
