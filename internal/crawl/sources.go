package crawl

// PageKind says what a page is to its crawl. The numbers are stored; never
// renumber them.
type PageKind uint8

// The kinds of pages. A sitemap or a feed is a source: a page whose content is
// read only for URLs and the times when they changed. A requisite is a file that pages
// need to look as they do; see DocumentSpec.
const (
	KindPage    PageKind = 0
	KindSitemap PageKind = 1 // a sitemap, an index of sitemaps, or a list of URLs
	KindFeed    PageKind = 2 // RSS, Atom or JSON Feed

	KindRequisite PageKind = 3 // an image, a style or a font of pages
)

var pageKinds = map[PageKind]string{KindPage: "page", KindSitemap: "sitemap", KindFeed: "feed", KindRequisite: "requisite"}

func (k PageKind) String() string { return nameOf(pageKinds, k) }

// IsSource reports whether the page is a list of other pages.
func (k PageKind) IsSource() bool { return k == KindSitemap || k == KindFeed }

// MarshalText implements encoding.TextMarshaler.
func (k PageKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *PageKind) UnmarshalText(text []byte) error {
	return parseName(pageKinds, text, k, "kind of page")
}

// SourceSpec says which lists of URLs a crawl reads: for pages that nothing links
// to, and for hints that a page has changed.
type SourceSpec struct {
	// Sitemaps reads the sitemaps that robots.txt names, and those that they name.
	Sitemaps bool `json:"sitemaps"`
	// Feeds reads the RSS, Atom and JSON feeds that pages name in a <link>.
	Feeds bool `json:"feeds"`
	// WellKnown tries /sitemap.xml where robots.txt names no sitemap.
	WellKnown bool `json:"well_known"`
	// MaxURLs is the most URLs that are taken from one sitemap or feed: 1 to 50000, which is
	// all that a sitemap may have.
	MaxURLs int `json:"max_urls"`
	// ForeignHosts is the most hosts, over the crawl's whole life, to which sitemaps named by
	// a robots.txt, and redirects of sitemaps and feeds, may lead the crawl beyond the scope
	// and beyond the registrable domain of the host that names them: 0 (none) to 1000. In
	// addition, each such domain may redirect its robots.txt files to as many hosts.
	ForeignHosts int `json:"foreign_hosts"`
}

// MostSourceURLs is the greatest SourceSpec.MaxURLs, as sitemaps.org allows.
const MostSourceURLs = 50_000

// MostForeignHosts is the greatest SourceSpec.ForeignHosts.
const MostForeignHosts = 1000

func (s *Spec) validateSources(bad badField) error {
	switch {
	case s.Sources.MaxURLs < 1 || s.Sources.MaxURLs > MostSourceURLs:
		return bad("sources.max_urls", "is %d; use 1 to %d", s.Sources.MaxURLs, MostSourceURLs)
	case s.Sources.ForeignHosts < 0 || s.Sources.ForeignHosts > MostForeignHosts:
		return bad("sources.foreign_hosts", "is %d; use 0 (none) to %d", s.Sources.ForeignHosts, MostForeignHosts)
	case s.Sources.WellKnown && !s.Sources.Sitemaps:
		return bad("sources.well_known", "looks for sitemaps, which sources.sitemaps turns off")
	}
	return nil
}
