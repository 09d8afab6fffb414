package exchange

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A letter is applied only if it is for the shard, its current opening, and its run and configuration.
func TestReceiver(t *testing.T) {
	tests := []struct {
		name   string
		change func(*letter)
		want   verdict
	}{
		{"as it should be", func(*letter) {}, done},
		{"of another terrain", func(l *letter) { l.Terrain[0] = 2 }, refused},
		{"for another shard", func(l *letter) { l.To = 1 }, refused},
		{"from itself", func(l *letter) { l.From = 0 }, refused},
		{"from no shard", func(l *letter) { l.From = 2 }, refused},
		{"from a negative shard", func(l *letter) { l.From = -1 }, refused},
		{"for an earlier opening", func(l *letter) { l.Opening[3]++ }, moved},
		{"of a later run", func(l *letter) { l.Run, l.Configuration = 4, 0 }, later},
		{"of an earlier run", func(l *letter) { l.Run, l.Configuration = 2, 9 }, older},
		{"of a later configuration", func(l *letter) { l.Configuration = 6 }, later},
		{"of an earlier configuration", func(l *letter) { l.Configuration = 4 }, older},
		{"half an opening", func(l *letter) { l.Opening = l.Opening[:8] }, refused},
		{"half a terrain", func(l *letter) { l.Terrain = nil }, refused},
		{"with seven odd forms", func(l *letter) { l.Referrals[0].Forms = make([]string, 7) }, refused},
		{"too long", func(l *letter) { l.Referrals[0].URL = strings.Repeat("x", MaxLetter) }, refused},
		{"an errand", func(l *letter) { l.Referrals, l.Errand = nil, &errand{ID: 7, URL: "https://a.test/robots.txt"} }, busy},
		{"an errand for an earlier opening", func(l *letter) { l.Referrals, l.Errand, l.Opening[3] = nil, &errand{}, 9 }, busy},
		{"an errand of a later run", func(l *letter) { l.Referrals, l.Errand, l.Run = nil, &errand{}, 9 }, later},
		{"an errand from itself", func(l *letter) { l.Referrals, l.Errand, l.From = nil, &errand{}, 0 }, refused},
		{"an errand beside referrals", func(l *letter) { l.Errand = &errand{} }, refused},
		{"a question", func(l *letter) { l.Referrals = nil }, contains},
		{"a question about nothing", func(l *letter) { l.Referrals, l.Commit = nil, 0 }, lacks},
		{"a question about what is to come", func(l *letter) { l.Referrals, l.Commit = nil, 99 }, lacks},
		{"a question about another file", func(l *letter) { l.Referrals = nil; l.Opening[0]++ }, lacks},
		{"a question of a later run", func(l *letter) { l.Referrals, l.Run = nil, 9 }, contains},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShard(t)
			l := s.letterTo()
			opening := schema.Opening(l.Opening)
			tt.change(&l)
			before := s.store.LastCommit()
			text, err := NewReceiver(s).Answer(written(l))
			if err != nil {
				t.Fatal(err)
			}
			a, err := decodeAnswer(text)
			if err != nil || a.Verdict != tt.want {
				t.Fatalf("it answers %+v, %v; want %s", a, err, tt.want)
			}
			if (len(s.told) == 1) != (tt.want == done) {
				t.Errorf("%d referrals are applied", len(s.told))
			}
			if tt.want == refused {
				return
			}
			if schema.Opening(a.Opening) != opening || a.Run != 3 || a.Configuration != 5 ||
				a.Commit != s.store.LastCommit() ||
				(a.Commit > before) != (tt.want == done) {
				t.Errorf("it answers %+v after commit %d, now %d", a, before, s.store.LastCommit())
			}
		})
	}
}

// Applied referrals equal those sent.
func TestReferralsArriveWhole(t *testing.T) {
	s := newShard(t)
	l := s.letterTo()
	told := func(depth uint8) schema.Inbound {
		return schema.Inbound{Run: 3, Configuration: 5, Depth: depth}
	}
	l.Referrals = append(l.Referrals,
		ring.Referral{URL: "https://b.test/", Forms: []string{"https://b.test/"}, Told: told(0)},
		ring.Referral{URL: "https://b.test/2", Forms: []string{"http://b.test/2"}, Told: told(kv.NoDepth)},
		ring.Referral{Kind: schema.KindSitemap, URL: "https://b.test/" + strings.Repeat("x", 300),
			Forms: []string{"https://b.test/\xff"}, Told: told(1)},
	)
	l.Referrals[3].Told.Changed = time.Unix(-1, 0).UTC()
	if _, err := NewReceiver(s).Answer(written(l)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Referrals, s.told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
