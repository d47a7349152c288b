package crawl

import (
	"time"
)

// Spec is what a person says of one crawl: the input of the Crawl workflow as
// plain JSON, and the file of `starter crawl --spec`. Absent fields have the
// value of DefaultSpec; unknown fields are errors.
type Spec struct {
	// Name names the crawl: 1 to 40 of a-z 0-9 . _ -, starting with a letter or
	// digit. It cannot be changed.
	Name string `json:"name"`
	// Seeds are the http or https URLs that the crawl starts from; at least one, at most
	// 1000. More are imported: see seeds.md.
	Seeds      []string       `json:"seeds"`
	Scope      ScopeSpec      `json:"scope"`
	URLs       URLSpec        `json:"urls"`
	Limits     LimitSpec      `json:"limits"`
	Traps      TrapSpec       `json:"traps"`
	Politeness PolitenessSpec `json:"politeness"`
	Fetch      FetchSpec      `json:"fetch"`
	Content    ContentSpec    `json:"content"`
	Sources    SourceSpec     `json:"sources"`
	Revisit    RevisitSpec    `json:"revisit"`
	Rank       RankSpec       `json:"rank"`
	Retention  RetentionSpec  `json:"retention"`
	Identity   IdentitySpec   `json:"identity"`
	// MaintainEvery is the time between two maintenance turns of the crawl.
	MaintainEvery Duration `json:"maintain_every"`
}

// ScopeSpec says which discovered URLs belong to the crawl.
type ScopeSpec struct {
	// Type is page, prefix, host, domain or any, relative to the seeds.
	Type string `json:"type"`
	// MaxDepth is the greatest number of links from a seed; 0 is unlimited.
	MaxDepth int `json:"max_depth"`
	// MaxHopsOffHost is the greatest number of links in a row beyond the hosts of the
	// seeds; 0 is unlimited. It narrows the type, and no rule gets past it.
	MaxHopsOffHost int `json:"max_hops_off_host"`
	// Rules accept or reject URLs, the first that matches decides; where none does,
	// the type decides. See below, and scope.md.
	Rules []ScopeRule `json:"rules"`
}

// URLSpec says which addresses lead to one page of the crawl's sites, beyond
// those that always do: for seeds, links and redirects.
type URLSpec struct {
	// StripParams are names of query parameters that addresses are kept and fetched
	// without, such as fbclid or utm_*; a * may stand at the start and at the end,
	// and upper and lower case differ. As with all of urls, pages that are known
	// already keep their addresses.
	StripParams []string `json:"strip_params"`
	// StripPathParams are names of parameters of the path, such as jsessionid of
	// "/a;jsessionid=1", that addresses are kept and fetched without; written like
	// StripParams.
	StripPathParams []string `json:"strip_path_params"`
	// SortQuery puts the parameters of the query in the order of their names.
	SortQuery bool `json:"sort_query"`
}

// LimitSpec bounds the collection.
type LimitSpec struct {
	// MaxPages is the greatest number of pages with a workflow; 0 is unlimited.
	MaxPages int `json:"max_pages"`
	// Window is the greatest number of admitted pages of one host that have not
	// been attempted yet.
	Window int `json:"window"`
}

// TrapSpec guards against parts of sites that have no end. What it keeps out is
// known and held, until a person releases it.
type TrapSpec struct {
	// Guard holds calendars that go on for ever, empty pages that lead only to more of
	// their kind, paths that repeat themselves, session ids, combined parameters, and
	// parts of sites that are nearly all copies. See traps.md.
	Guard bool `json:"guard"`
	// MaxHostPages is the greatest number of pages that are taken of one host; what is
	// found after them is held. 0 is unlimited.
	MaxHostPages int `json:"max_host_pages"`
	// MaxPrefixPages is the same for each folder of a host's root.
	MaxPrefixPages int `json:"max_prefix_pages"`
}

// PolitenessSpec is what the crawl demands of the gap between two requests to
// one host; the strictest of all demands holds.
type PolitenessSpec struct {
	// Delay is the floor of the gap.
	Delay Duration `json:"delay"`
	// Factor is another floor, as a multiple of the last request's duration; 0 is
	// off.
	Factor float64 `json:"factor"`
	// MaxCrawlDelay caps a site's Crawl-delay; it is never below the delay.
	MaxCrawlDelay Duration `json:"max_crawl_delay"`
	// PerAddress is the most requests that one worker process has in flight to one IP
	// address at a time, whatever names and ports lead there, of all crawls; the strictest
	// of those in flight counts: 1 to 1000, or 0 (no limit of this crawl's). Through a
	// proxy only hosts that are spelled as an address are counted.
	PerAddress int `json:"per_address"`
}

// FetchSpec bounds one request.
type FetchSpec struct {
	// TimeLimit is the most time that a request may take, from its begin to the end
	// of its body: 1ms to 1h.
	TimeLimit Duration `json:"time_limit"`
	// MaxBody bounds the body both on the wire and decompressed.
	MaxBody Size `json:"max_body"`
	// AllowNetworks names the CIDRs of private networks that may be fetched. Without
	// it, of this machine only the hosts and ports of seeds are, and of other private
	// networks nothing.
	AllowNetworks []string `json:"allow_networks"`
	// ContentTypes are the media types whose bodies are kept.
	ContentTypes []string `json:"content_types"`
}

// ContentSpec says what is no part of a page's text for this crawl, besides the
// navigation, adverts and the like that are left out of every page. A change of
// it shows as a change of the pages that it touches, when their bytes next change.
type ContentSpec struct {
	// IgnoreSelectors are CSS selectors, such as .advert or #clock, of elements
	// whose text is ignored. Their links are followed all the same.
	IgnoreSelectors []string `json:"ignore_selectors"`
	// IgnorePatterns are regular expressions (RE2 syntax); what they match within a
	// line of text, which is a paragraph, heading, list item or cell, is ignored.
	IgnorePatterns []string `json:"ignore_patterns"`
}

// RevisitSpec chooses when pages are visited again.
type RevisitSpec struct {
	// Policy decides when a page is visited again. Budgeted, for one purpose each: sqrt
	// (changes wait least), fresh (copies are up to date longest), age (copies are
	// least old), harmonic (between fresh and sqrt). Rules of papers: frmax (by how
	// often the page changed in its last visits), deltat (the interval grows and
	// shrinks with that), fixed (every DefaultInterval). See policies.md.
	Policy string `json:"policy"`
	// Budget is the number of visits a day ("10000/day", "500/h") that a budgeted
	// policy plans; "" is one visit per page per DefaultInterval.
	Budget string `json:"budget"`
	// AcceptPatents must be true for the policy harmonic: patents cover methods
	// close to it, which policies.md names.
	AcceptPatents bool `json:"accept_patents"`
	// DefaultInterval is the time between visits of a page that nothing is known of
	// yet, and the policies' round.
	DefaultInterval Duration `json:"default_interval"`
	// MinInterval is the least time between two visits of a page.
	MinInterval Duration `json:"min_interval"`
	// MaxInterval is the most time between two visits of a page: at most 3650d.
	MaxInterval Duration `json:"max_interval"`
	// Selective makes frmax skip a turn of a page that had not changed, unless
	// enough of the pages of its site that it links to have.
	Selective bool `json:"selective"`
	// Rules plan some pages otherwise; the first that is about a page counts.
	Rules []RevisitRule `json:"rules"`
}

// RankSpec says how important pages are to each other, and what follows from it
// besides the order in which they come in.
type RankSpec struct {
	// Every is the time between two rankings of all pages by the links between them;
	// another is made whenever the links have doubled since the last. Pages that came in
	// or were evicted stay so for at least as long. 0 makes none, and evicts nobody.
	Every Duration `json:"every"`
	// Damping is the share of readers who follow a link, as PageRank has it: 0.01 to
	// 0.99.
	Damping float64 `json:"damping"`
	// Personalised makes those readers start at the seeds only, so that what is near to
	// them is important.
	Personalised bool `json:"personalised"`
	// Margin is by how much more important than a page of a full collection (limits.max_pages)
	// another must be to take its place: 0.25 is a quarter more.
	Margin float64 `json:"margin"`
	// MaxEvictions is the greatest share of limits.max_pages that is evicted in a day, from
	// 0 (none) to 1.
	MaxEvictions float64 `json:"max_evictions"`
}

// RetentionSpec says how much is kept of the past of each page. It is applied
// whenever the page is visited; the newest version is always kept.
type RetentionSpec struct {
	// MaxVersions is the greatest number of versions of a page that are kept, the
	// newest included; 0 keeps all.
	MaxVersions int `json:"max_versions"`
	// MaxAge is how long a version is kept after a newer one took its place; 0 keeps
	// it for ever.
	MaxAge Duration `json:"max_age"`
	// MaxVisits is the greatest number of visits of a page that are kept, besides
	// those that found the versions which are kept; 0 keeps all.
	MaxVisits int `json:"max_visits"`
}

// IdentitySpec is how the crawl introduces itself.
type IdentitySpec struct {
	// Agent is the product token that robots.txt is read for.
	Agent string `json:"agent"`
	// Contact is a URL or mail address; required beyond loopback.
	Contact string `json:"contact"`
}

// DefaultSpec returns the spec with the default of every field.
func DefaultSpec() Spec {
	return Spec{
		Seeds:      []string{},
		Scope:      ScopeSpec{Type: "host", Rules: []ScopeRule{}},
		URLs:       URLSpec{StripParams: []string{}, StripPathParams: []string{}},
		Limits:     LimitSpec{Window: 16},
		Traps:      TrapSpec{Guard: true},
		Politeness: PolitenessSpec{Delay: Duration(10 * time.Second), Factor: 1, MaxCrawlDelay: Duration(time.Hour), PerAddress: 4},
		Fetch: FetchSpec{
			TimeLimit: Duration(30 * time.Second), MaxBody: 10 << 20,
			AllowNetworks: []string{}, ContentTypes: []string{"text/html", "application/xhtml+xml"},
		},
		Content: ContentSpec{IgnoreSelectors: []string{}, IgnorePatterns: []string{}},
		Sources: SourceSpec{Sitemaps: true, Feeds: true, MaxURLs: MostSourceURLs, ForeignHosts: 5},
		Revisit: RevisitSpec{
			Policy: "sqrt", DefaultInterval: Duration(24 * time.Hour),
			MinInterval: Duration(time.Hour), MaxInterval: Duration(120 * 24 * time.Hour),
			Rules: []RevisitRule{},
		},
		Rank:          RankSpec{Every: Duration(24 * time.Hour), Damping: 0.85, Margin: 0.25, MaxEvictions: 0.05},
		Identity:      IdentitySpec{Agent: "recrawl"},
		MaintainEvery: Duration(10 * time.Minute),
	}
}
