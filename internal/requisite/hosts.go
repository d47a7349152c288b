package requisite

import (
	"fmt"

	"recrawl/internal/scope"
)

// MaxHosts is how many other hosts, beyond the page's own site, may have requisites of one
// page or stylesheet.
const MaxHosts = 20

// Reasons why a requisite on another host is not kept. They are stored.
const (
	ReasonPageHosts  = "too many requisite hosts of a page"
	ReasonCrawlHosts = "too many requisite hosts"
)

// PageHosts bounds the other hosts that have requisites of one page or stylesheet. The
// requisites come in the order of Choose, so stylesheets find room before pictures.
func PageHosts() scope.HostBound {
	return scope.HostBound{
		Most: MaxHosts, Reason: ReasonPageHosts,
		Detail: fmt.Sprintf("beyond this site, and what the page shows lies on %d hosts of others already", MaxHosts),
	}
}

// CrawlHosts bounds the other hosts that have requisites of a crawl, over its whole life.
func CrawlHosts(most int) scope.HostBound {
	return scope.HostBound{
		Most: most, Reason: ReasonCrawlHosts,
		Detail: fmt.Sprintf("beyond this site, and the crawl has its %d hosts for requisites (documents.requisite_hosts)", most),
	}
}
