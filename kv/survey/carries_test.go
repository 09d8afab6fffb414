package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A link leads on if one of the links that it was merged from does: a visible one, one that says whose its
// target is, or a canonical link that is followed. A feed never does.
func TestCarries(t *testing.T) {
	const redirect, canonical, anchor = schema.LinkRedirect, schema.LinkCanonical, schema.LinkAnchor
	const feed, me, blogroll = schema.LinkFeed, schema.LinkMe, schema.LinkBlogroll
	kinds := surveytest.Kinds
	obey := config.Crawler{RespectNofollow: true}
	follow := config.Crawler{RespectNofollow: true, FollowCanonical: true}
	for _, tt := range []struct {
		name string
		cfg  config.Crawler
		link schema.Link
		want bool
	}{
		{"redirect", obey, schema.Link{Kinds: kinds(redirect), Rel: schema.RelNofollow}, true},
		{"anchor", obey, schema.Link{Kinds: kinds(anchor)}, true},
		{"me", obey, schema.Link{Kinds: kinds(me)}, true},
		{"blogroll", obey, schema.Link{Kinds: kinds(blogroll)}, true},
		{"me, nofollow", obey, schema.Link{Kinds: kinds(me, anchor), Rel: schema.RelNofollow}, false},
		{"feed", follow, schema.Link{Kinds: kinds(feed)}, false},
		{"feed, and an anchor", obey, schema.Link{Kinds: kinds(feed, anchor)}, true},
		{"feed, and anchors with nofollow", follow, schema.Link{Kinds: kinds(feed, anchor), Nofollow: true}, false},
		{"feed, and anchors with nofollow, which is not respected", config.Crawler{},
			schema.Link{Kinds: kinds(feed, anchor), Nofollow: true}, true},
		{"canonical", follow, schema.Link{Kinds: kinds(canonical)}, true},
		{"canonical, not followed", obey, schema.Link{Kinds: kinds(canonical)}, false},
		{"canonical, not followed, and a feed", obey, schema.Link{Kinds: kinds(canonical, feed)}, false},
		{"canonical, and a feed", follow, schema.Link{Kinds: kinds(canonical, feed)}, true},
		{"canonical, and anchors with nofollow", follow, schema.Link{Kinds: kinds(canonical, anchor), Nofollow: true}, true},
		{"canonical, not followed, and anchors with nofollow", obey,
			schema.Link{Kinds: kinds(canonical, anchor), Nofollow: true}, false},
	} {
		if got := survey.Carries(tt.cfg, tt.link, false); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
