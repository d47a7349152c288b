package crawl

// DocumentSpec says what is kept with pages besides their bodies, for whoever reads them
// elsewhere.
type DocumentSpec struct {
	// Requisites keeps what pages need to look as they do: the images, styles and fonts of
	// each new version, and what the styles need in turn; at most 100 a page, and 5 MB
	// each. They may lie on any host, are asked for after all else, under that host's
	// robots.txt, and are no pages of the collection. See requisites.md.
	Requisites bool `json:"requisites,omitempty"`
}
