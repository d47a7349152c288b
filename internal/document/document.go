// Package document makes documents of versions of pages: Markdown with front matter for
// people and programs that read, and chunks for those that embed. It is pure.
package document

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
)

// Meta is a document's metadata.
type Meta struct {
	URL   string `json:"url"` // canonical
	Title string `json:"title"`
	Crawl string `json:"crawl"`
	// Page is the page's id, and Version the version's number, from 1.
	Page    int64 `json:"page"`
	Version int   `json:"version"`
	// Fetched is when the version was found, and Changed when the page last got another main
	// text. Neither moves with a visit that finds the page as it was.
	Fetched time.Time `json:"fetched"`
	Changed time.Time `json:"changed"`
	// Language is a BCP 47 tag, "" if the page does not say.
	Language string `json:"language,omitempty"`
	// Canonical is where rel=canonical points, "" if nowhere.
	Canonical   string `json:"canonical,omitempty"`
	ContentType string `json:"content_type"`
	// TextSHA256 is the digest of Markdown in hex.
	TextSHA256 string `json:"text_sha256"`
	// Reserved holds what the site says about uses of the page, nil if it says nothing.
	Reserved []crawl.Reservation `json:"reserved,omitempty"`
}

// Document is a version of a page to be read.
type Document struct {
	Meta
	// Markdown is GitHub Flavored Markdown in UTF-8. It ends with a line end unless it is
	// empty. Links and pictures are absolute, and have the schemes http, https or mailto.
	Markdown string
	// Headings are those in Markdown, in its order.
	Headings []extract.Heading
}

// New makes the document of a Markdown text; it sets the text's digest.
func New(meta Meta, markdown string) Document {
	sum := sha256.Sum256([]byte(markdown))
	meta.TextSHA256 = hex.EncodeToString(sum[:])
	return Document{Meta: meta, Markdown: markdown}
}

// Of makes the document of a version that was read.
func Of(meta Meta, m extract.Markdown) Document {
	d := New(meta, m.Body)
	d.Headings = m.Headings
	return d
}

// Chunk is a part of a document that is embedded by itself.
type Chunk struct {
	// ID follows from the URL, the headings and the ordinal among the chunks under these
	// headings, so that a change elsewhere on the page does not change it.
	ID       string   `json:"id"`
	URL      string   `json:"url"`
	Anchor   string   `json:"anchor,omitempty"` // id of the element at its heading, "" if there is none
	Headings []string `json:"headings"`         // from the outermost on
	Ordinal  int      `json:"ordinal"`          // from 1
	Text     string   `json:"text"`             // Markdown
	SHA256   string   `json:"sha256"`           // of Text in hex
	// Reserved holds what the site says about uses of the page, nil if it says nothing. Where
	// it says so is in the document's metadata.
	Reserved []Statement `json:"reserved,omitempty"`
}

// Statement says whether a site allows a use of a page.
type Statement struct {
	Use     crawl.Use `json:"use"`
	Allowed bool      `json:"allowed"`
}

// statementsOf returns reservations without their sources, each once.
func statementsOf(all []crawl.Reservation) []Statement {
	var said []Statement
	for _, r := range all {
		if s := (Statement{r.Use, r.Allowed}); !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	return said
}
