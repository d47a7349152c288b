package crawl

import (
	"time"
)

// Spec holds the settings of one crawl: the input of the Crawl workflow as plain JSON, and
// the file of `starter crawl --spec`. Absent fields have the value of DefaultSpec; unknown
// fields are errors.
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
	Documents  DocumentSpec   `json:"documents,omitzero"`
	Revisit    RevisitSpec    `json:"revisit"`
	Rank       RankSpec       `json:"rank"`
	Retention  RetentionSpec  `json:"retention"`
	Identity   IdentitySpec   `json:"identity"`
	// Purpose lists what the pages are for: search, ai-input, ai-train, archive. A page whose
	// site reserves one of these is excluded. An empty list declares nothing and excludes
	// nothing. See politeness.md.
	Purpose []Use `json:"purpose,omitempty"`
	// MaintainEvery is the time between two maintenance passes of the crawl.
	MaintainEvery Duration `json:"maintain_every"`
	// Sinks are the receivers of what changes, each by its name: 1 to 40 of a-z 0-9 . _ -,
	// starting with a letter or digit; at most 20. See below.
	Sinks map[string]SinkSpec `json:"sinks,omitempty"`
}

// ScopeSpec says which discovered URLs belong to the crawl.
type ScopeSpec struct {
	// Type is one of page, prefix, host, domain and any, relative to the seeds.
	Type string `json:"type"`
	// MaxDepth is the most links from a seed to a page; 0 is unlimited.
	MaxDepth int `json:"max_depth"`
	// MaxHopsOffHost is the most links in a row beyond the hosts of the seeds; 0 is
	// unlimited. It narrows the type, and no rule overrides it.
	MaxHopsOffHost int `json:"max_hops_off_host"`
	// Rules accept or reject URLs. The first that matches decides; if none matches, the
	// type decides. See below, and scope.md.
	Rules []ScopeRule `json:"rules"`
}

// URLSpec says which addresses lead to one page of the crawl's sites, beyond
// those that always do: for seeds, links and redirects.
type URLSpec struct {
	// StripParams are names of query parameters that are removed from addresses, such as
	// fbclid or utm_*. A * may stand at the start and at the end, and case matters. As with
	// all of urls, known pages keep their addresses.
	StripParams []string `json:"strip_params"`
	// StripPathParams are names of path parameters that are removed from addresses, such as
	// jsessionid of "/a;jsessionid=1"; written like StripParams.
	StripPathParams []string `json:"strip_path_params"`
	// SortQuery sorts the parameters of the query by name.
	SortQuery bool `json:"sort_query"`
}

// LimitSpec bounds the collection.
type LimitSpec struct {
	// MaxPages is the most pages that may have a workflow; 0 is unlimited.
	MaxPages int `json:"max_pages"`
	// Window is the most pages of one host that are admitted and not yet attempted.
	Window int `json:"window"`
	// SiteTime is how long new pages of a host come in, from the first on, in each round
	// (revisit.default_interval); the rest waits for the next round. It bounds how much an
	// endless site takes. 0 is without limit.
	SiteTime Duration `json:"site_time"`
}

// TrapSpec guards against parts of sites that have no end. What it keeps out is
// known and held, until a person releases it.
type TrapSpec struct {
	// Guard holds endless calendars, empty pages that lead only to more of their kind,
	// repeating paths, session ids, combined parameters, and parts of sites that are nearly
	// all copies. See traps.md.
	Guard bool `json:"guard"`
	// MaxHostPages is the most pages that a crawl takes from one host; what is found after
	// them is held. 0 is unlimited.
	MaxHostPages int `json:"max_host_pages"`
	// MaxPrefixPages is the same for each folder of a host's root.
	MaxPrefixPages int `json:"max_prefix_pages"`
}

// PolitenessSpec holds the crawl's demands on the gap between two requests to one
// host; the strictest of all demands applies.
type PolitenessSpec struct {
	// Delay is the floor of the gap. `auto` means 10s with auto_delay.
	Delay Duration `json:"delay"`
	// AutoDelay lets the floor vary from 1s up to the delay: by how slowly the host answers,
	// and by how often it refuses. See politeness.md.
	AutoDelay bool `json:"auto_delay,omitempty"`
	// Factor is another floor, as a multiple of the last request's duration; 0 is
	// off.
	Factor float64 `json:"factor"`
	// MaxCrawlDelay caps a site's Crawl-delay; it is never below the delay.
	MaxCrawlDelay Duration `json:"max_crawl_delay"`
	// PerAddress is the most requests of all crawls that one worker process has in flight to
	// one IP address, whatever names and ports lead there: 1 to 1000, or 0 (no limit of this
	// crawl's). The strictest crawl with a request in flight counts. Through a proxy this
	// covers only hosts that are spelled as an address.
	PerAddress int `json:"per_address"`
}

// FetchSpec bounds one request.
type FetchSpec struct {
	// TimeLimit is the most time that a request may take, from its start to the end of its
	// body: 1ms to 1h.
	TimeLimit Duration `json:"time_limit"`
	// MaxBody bounds the body both on the wire and decompressed.
	MaxBody Size `json:"max_body"`
	// AllowNetworks names the CIDRs of private networks that the crawl may fetch from.
	// Without it, only the hosts and ports of seeds may be fetched on this machine, and
	// nothing on other private networks.
	AllowNetworks []string `json:"allow_networks"`
	// ContentTypes are the media types whose bodies are kept; text/* stands for all types of text.
	ContentTypes []string `json:"content_types"`
}

// ContentSpec says what is no part of a page's text for this crawl, besides the
// navigation, adverts and the like that are left out of every page. A change of
// it is no change of a page: the last version is read again by the new rules. Only
// where its body was not kept does it appear as one when the page's bytes next
// change.
type ContentSpec struct {
	// IgnoreSelectors are CSS selectors, such as .advert or #clock, of elements
	// whose text is ignored. Their links are followed all the same.
	IgnoreSelectors []string `json:"ignore_selectors"`
	// IgnorePatterns are regular expressions (RE2 syntax); what they match within a
	// line of text, which is a paragraph, heading, list item or cell, is ignored.
	IgnorePatterns []string `json:"ignore_patterns"`
	// NearDuplicate is the resemblance, up to 1, from which `starter duplicates` lists
	// a page as nearly another. The resemblance of two pages is the share of their
	// phrases of four words that both have. 0 is 0.98, which lists copies only.
	NearDuplicate float64 `json:"near_duplicate"`
	// IgnoreShared ignores a line without digits that comes or goes, if it stands on most of
	// the host's other pages, of which the eight oldest are looked at. On the oldest page with
	// the line it still counts. This keeps notices and help lines from being changes, and
	// misses that a product is sold out in a shop whose pages mostly say "in stock". See
	// decisions.md.
	IgnoreShared bool `json:"ignore_shared,omitempty"`
	// Rules define, for the pages of a prefix or host, which elements their text is,
	// and what else is ignored; the first rule that matches a page counts. See below.
	Rules []ContentRule `json:"rules,omitempty"`
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
	// DefaultInterval is the time between visits of a page about which nothing is known
	// yet, and the policies' round.
	DefaultInterval Duration `json:"default_interval"`
	// MinInterval is the least time between two visits of a page, or DefaultInterval if that is
	// shorter.
	MinInterval Duration `json:"min_interval"`
	// MaxInterval is the most time between two visits of a page: at most 3650d.
	MaxInterval Duration `json:"max_interval"`
	// Selective makes frmax skip a visit of a page that had not changed, unless enough of the
	// pages of its site that it links to have.
	Selective bool `json:"selective"`
	// Rules plan some pages differently; the first rule that matches a page counts.
	Rules []RevisitRule `json:"rules"`
}

// RankSpec says how important pages are to each other, and what follows from it
// besides the order in which they come in.
type RankSpec struct {
	// Every is the time between two rankings of all pages by the links between them. Another
	// ranking is made whenever the links have doubled since the last. Pages that came in or
	// were evicted stay so for at least as long. 0 makes no rankings and evicts no pages.
	Every Duration `json:"every"`
	// Damping is the share of readers who follow a link, as PageRank has it: 0.01 to
	// 0.99.
	Damping float64 `json:"damping"`
	// Personalised makes those readers start at the seeds only, so that pages near the seeds
	// are important.
	Personalised bool `json:"personalised"`
	// Margin is how much more important than a page of a full collection (limits.max_pages)
	// another page must be to take its place: 0.25 is a quarter more.
	Margin float64 `json:"margin"`
	// MaxEvictions is the largest share of limits.max_pages that may be evicted in a day,
	// from 0 (none) to 1.
	MaxEvictions float64 `json:"max_evictions"`
}

// RetentionSpec says how much is kept of the past of each page, and of the change feed.
// The limits of pages are applied whenever the page is visited; the newest version, and the
// one that the page has, are always kept.
type RetentionSpec struct {
	// MaxVersions is how many versions of a page are kept at most, including the newest and
	// the one that the page has; 0 keeps all.
	MaxVersions int `json:"max_versions"`
	// MaxAge is how long a version is kept after the page last had it; 0 keeps it for ever.
	MaxAge Duration `json:"max_age"`
	// MaxVisits is how many visits of a page are kept at most, besides those that found the
	// versions that are kept; 0 keeps all.
	MaxVisits int `json:"max_visits"`
	// Changes is how long the change feed keeps what changed; 0 keeps it for ever. The crawls
	// of a store share a feed, which keeps it as long as the longest of them says, and what a
	// sink collects until five days after its message is due.
	Changes Duration `json:"changes"`
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
		Content: ContentSpec{IgnoreSelectors: []string{}, IgnorePatterns: []string{}, NearDuplicate: 0.75},
		Sources: SourceSpec{Sitemaps: true, Feeds: true, MaxURLs: MostSourceURLs, ForeignHosts: 5},
		Revisit: RevisitSpec{
			Policy: "sqrt", DefaultInterval: Duration(24 * time.Hour),
			MinInterval: Duration(time.Hour), MaxInterval: Duration(120 * 24 * time.Hour),
			Rules: []RevisitRule{},
		},
		Retention:     RetentionSpec{Changes: Duration(30 * 24 * time.Hour)},
		Rank:          RankSpec{Every: Duration(24 * time.Hour), Damping: 0.85, Margin: 0.25, MaxEvictions: 0.05},
		Identity:      IdentitySpec{Agent: "recrawl"},
		MaintainEvery: Duration(10 * time.Minute),
	}
}
