package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/crawl"
)

// Search attributes. Few, and upserted only when they change: each write is a
// row with dozens of indexes in Temporal's visibility store.
var (
	AttrCrawl = temporal.NewSearchAttributeKeyKeyword("CrawlName")
	AttrHost  = temporal.NewSearchAttributeKeyKeyword("CrawlHost")
	AttrState = temporal.NewSearchAttributeKeyKeyword("CrawlState")
)

// SearchAttributes lists the names of recrawl's search attributes; all are
// keywords.
func SearchAttributes() []string {
	return []string{AttrCrawl.GetName(), AttrHost.GetName(), AttrState.GetName()}
}

// PageAttributes are the search attributes that a Page starts with.
func PageAttributes(in PageIn) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		AttrCrawl.ValueSet(AttrValue(in.Page.Crawl)),
		AttrHost.ValueSet(AttrValue(in.Page.Host)),
		AttrState.ValueSet(in.State.String()),
	)
}

// PageSummary is the static summary of a Page's first run, at most 200 bytes.
func PageSummary(p crawl.PageRef) string { return AttrValue(p.URL) }

const (
	maxID       = 240 // Postgres columns are VARCHAR(255); longer ids loop for ever
	maxURLPart  = 180
	keptURLPart = 147 // + "~" + 32 hex = 180
	maxAttr     = 200
)

// CrawlID is the workflow id of a crawl.
func CrawlID(name string) string { return mustID("crawl/" + name) }

// ParseCrawlID returns the crawl's name of a CrawlID.
func ParseCrawlID(id string) (name string, ok bool) {
	name, ok = strings.CutPrefix(id, "crawl/")
	return name, ok && crawl.ValidName(name)
}

// PageID is the workflow id of a page: its canonical URL, which must be
// printable ASCII, cut to 180 characters with a hash when longer.
func PageID(crawlName, url string) string {
	return mustID("page/" + crawlName + "/" + urlPart(url))
}

// ParsePageID returns the crawl and URL of a PageID. A truncated id has only a
// part of its URL; the store knows the whole.
func ParsePageID(id string) (crawlName, url string, truncated, ok bool) {
	rest, ok := strings.CutPrefix(id, "page/")
	if !ok {
		return "", "", false, false
	}
	crawlName, url, ok = strings.Cut(rest, "/")
	if !ok || !crawl.ValidName(crawlName) || url == "" {
		return "", "", false, false
	}
	truncated = len(url) == maxURLPart && url[keptURLPart] == '~' && isHex(url[keptURLPart+1:])
	return crawlName, url, truncated, true
}

// DiscoverID is the workflow id of a Discover. Page 0 is admission only.
func DiscoverID(crawlName string, page int64, visit int) string {
	return mustID(fmt.Sprintf("discover/%s/%d/%d", crawlName, page, visit))
}

// ParseDiscoverID returns the parts of a DiscoverID.
func ParseDiscoverID(id string) (crawlName string, page int64, visit int, ok bool) {
	parts := strings.Split(id, "/")
	if len(parts) != 4 || parts[0] != "discover" || !crawl.ValidName(parts[1]) {
		return "", 0, 0, false
	}
	page, err1 := strconv.ParseInt(parts[2], 10, 64)
	visit, err2 := strconv.Atoi(parts[3])
	return parts[1], page, visit, err1 == nil && err2 == nil
}

// AttrValue cuts a search attribute's value to a length that every visibility store
// takes.
func AttrValue(s string) string {
	if len(s) > maxAttr {
		return s[:maxAttr]
	}
	return s
}

func urlPart(url string) string {
	url = strings.ReplaceAll(url, "'", "%27") // a quote breaks visibility queries
	if len(url) <= maxURLPart {
		return url
	}
	sum := sha256.Sum256([]byte(url))
	return url[:keptURLPart] + "~" + hex.EncodeToString(sum[:16])
}

// mustID asserts the requirements of Temporal and its databases on an id. A
// violation is a bug: a child with such an id would time out for ever.
func mustID(id string) string {
	if len(id) > maxID {
		panic(fmt.Sprintf("workflow id of %d characters, at most %d: %.60s…", len(id), maxID, id))
	}
	for i := range len(id) {
		if id[i] < 0x21 || id[i] > 0x7e {
			panic(fmt.Sprintf("workflow id with byte %#x: %q", id[i], id))
		}
	}
	return id
}

func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}
