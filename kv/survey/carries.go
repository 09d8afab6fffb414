package survey

import (
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Carries reports whether a link carries depth and queues its target. pageNofollow says that the
// page asks for its links not to be followed. A redirect always carries depth; a feed never does, since it
// is no page.
func Carries(cfg config.Crawler, link schema.Link, pageNofollow bool) bool {
	return link.Kinds != schema.OnlyFeed && refusal(cfg, link, pageNofollow) == ""
}

// refusal names the rule that keeps a link from carrying depth.
func refusal(cfg config.Crawler, link schema.Link, pageNofollow bool) string {
	switch {
	case link.Kinds.Has(schema.LinkRedirect):
		return ""
	case !cfg.FollowCanonical && link.Kinds&^schema.OnlyFeed == schema.OnlyCanonical:
		return "follow-canonical = false"
	case cfg.RespectNofollow && (pageNofollow || link.Rel&schema.RelNofollow != 0 ||
		link.Nofollow && !(cfg.FollowCanonical && link.Kinds.Has(schema.LinkCanonical))):
		return "respect-nofollow = true"
	}
	return ""
}
