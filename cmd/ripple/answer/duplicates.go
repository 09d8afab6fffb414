package answer

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// The Duplicates as programs read them.
type (
	Duplicates struct {
		Domain     string             `json:"domain,omitempty"` // of whose pages they are; empty: of all
		Share      *float64           `json:"duplicate_share"`  // of the host, see [survey.Duplicates.Share]; null: of all
		Duplicates int                `json:"duplicates"`       // pages that are near-duplicates of another, see Domain
		Count      int                `json:"cluster_count"`
		Clusters   []DuplicateCluster `json:"clusters"` // the largest first
	}
	DuplicateCluster struct {
		URL       string          `json:"url"` // of the page that represents it
		Pages     int             `json:"pages"`
		Hosts     int             `json:"hosts"`
		Bits      int             `json:"bits"`        // in which one of the pages differs from that one at most
		List      []DuplicatePage `json:"members"`     // some of the other pages, of the host if there is one; nearest first
		Elsewhere int             `json:"other_hosts"` // other pages that are not on the host; of all hosts 0
	}
	DuplicatePage struct {
		URL  string `json:"url"`
		Bits int    `json:"bits"` // of the SimHash in which it differs from the page that represents the cluster
	}
)

// NewDuplicates returns the clusters of near-duplicates with a page of a host, or, if that is 0, all of them. It lists
// at most limit clusters, and of each at most limit pages.
func NewDuplicates(s *survey.Survey, host schema.HostID, limit int) (*Duplicates, error) {
	found, err := s.Duplicates()
	if err != nil {
		return nil, err
	}
	d := &Duplicates{Duplicates: found.Len(), Clusters: []DuplicateCluster{}}
	if host != 0 {
		d.Duplicates = found.LenOf(host)
		if share, ok := found.Share(host); ok {
			d.Share = &share
		}
		if d.Domain, err = s.Hosts.Name(host); err != nil {
			return nil, err
		}
	}
	asked := func(p survey.ClusterPage) bool { return host == 0 || s.Hosts.Of(p.ID) == host }
	for _, c := range found.Clusters() {
		if !slices.ContainsFunc(c, asked) {
			continue
		}
		if d.Count++; len(d.Clusters) >= limit {
			continue
		}
		one, err := newDuplicateCluster(s, c, asked, limit)
		if err != nil {
			return nil, err
		}
		d.Clusters = append(d.Clusters, one)
	}
	return d, nil
}

func newDuplicateCluster(
	s *survey.Survey, c survey.Cluster, asked func(survey.ClusterPage) bool, limit int,
) (one DuplicateCluster, err error) {
	one = DuplicateCluster{Pages: len(c), Bits: c[len(c)-1].Bits, List: []DuplicatePage{}}
	hosts := map[schema.HostID]bool{}
	for i, p := range c {
		hosts[s.Hosts.Of(p.ID)] = true
		if i > 0 && !asked(p) {
			one.Elsewhere++
			continue
		}
		if i > 0 && len(one.List) >= limit {
			continue
		}
		url, err := s.Norm(p.ID)
		if err != nil {
			return one, err
		}
		if i == 0 {
			one.URL = url
			continue
		}
		one.List = append(one.List, DuplicatePage{url, p.Bits})
	}
	one.Hosts = len(hosts)
	return one, nil
}
