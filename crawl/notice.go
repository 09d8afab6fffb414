package crawl

import (
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// noticeSeed says at once that a seed leads out of its origin: nothing of the
// origin may ever be crawled (SPEC 12).
func (t *turn) noticeSeed(id schema.ID, to Target) {
	if !t.seeds[id] || len(t.set.terrain.OriginsOf(to.Host())) > 0 {
		return
	}
	if norm, err := t.tx.Norm(id); err == nil {
		t.log.Warn("a seed ends outside its origin", "seed", norm, "at", to.Norm)
	}
}

// noticeHost says at once that a subdomain of an origin was met that no entry
// covers.
func (t *turn) noticeHost(name string) {
	terr := t.set.terrain
	if len(terr.OriginsOf(name)) > 0 || !terr.HostClass(name).Class.Visitable() {
		return
	}
	for parent := name; ; {
		_, rest, ok := strings.Cut(parent, ".")
		if !ok || rest == weburl.Site(rest) && len(terr.OriginsOf(rest)) == 0 {
			return
		}
		if parent = rest; len(terr.OriginsOf(parent)) > 0 {
			t.log.Info("a subdomain of an origin is not covered", "host", name, "pattern", "*."+parent)
			return
		}
	}
}
