package config

import (
	"fmt"

	"github.com/sumi-ripple/ripple/schema"
)

// Budget is how many requests for pages a run may send to a host: max-requests of its most
// specific origin, else max-domain-requests.
func (c *Config) Budget(host string) int { return c.terrain.Budget(host, c.Crawler.MaxDomainRequests) }

// BudgetKey names the key that the budget of a host comes from, and its value.
func (c *Config) BudgetKey(host string) string {
	key := "max-domain-requests"
	if c.terrain.Budget(host, -1) != -1 {
		key = "max-requests"
	}
	return fmt.Sprintf("%s = %d", key, c.Budget(host))
}

// UsedUp reports whether nothing is left of the budget of a host, to which the run has so
// many requests open besides those that it counts.
func (c *Config) UsedUp(h *schema.Host, open int) bool {
	return h.RunRequests+open >= c.Budget(h.Name)
}
