package activities

import (
	"cmp"
	"net/http"
	"strings"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// conditions are the validators to send. After a failure none are sent: some servers, and what
// stands before them, answer conditions with an error, and would answer each retry so.
func conditions(page store.PageRecord) (etag, lastModified string) {
	if page.Failures > 0 {
		return "", ""
	}
	return page.ETag, page.LastModified
}

// refreshed are the validators after a 304, which need not repeat those of the request. If it
// speaks of another version they are dropped, so that the next visit asks for the whole page:
// with the other version's validators, ours would never be compared again (RFC 9111 4.3.4).
func refreshed(page store.PageRecord, r fetch.Result) (change bool, etag, lastModified string) {
	if ofAnother(page, r) {
		return true, "", ""
	}
	etag, lastModified = page.ETag, cmp.Or(r.LastModified, page.LastModified)
	if etag != "" { // else nothing says that the answer's is our version's
		etag = cmp.Or(r.ETag, etag)
	}
	return etag != page.ETag || lastModified != page.LastModified, etag, lastModified
}

// ofAnother reports whether a 304 names a version that is not ours: some servers look only at
// the date of a request that has an ETag as well. Where both have an ETag, it decides.
func ofAnother(page store.PageRecord, r fetch.Result) bool {
	if page.ETag != "" && r.ETag != "" {
		return bareTag(page.ETag) != bareTag(r.ETag)
	}
	return page.LastModified != "" && r.LastModified != "" && page.LastModified != r.LastModified
}

// bareTag returns the part of an ETag that a weak comparison looks at. Servers that compress
// append the coding to the tag. It does not count: a 304 has no body to compress.
func bareTag(etag string) string {
	tag := strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		if bare, ok := strings.CutSuffix(tag, coding); ok && strings.ContainsAny(bare[max(len(bare)-1, 0):], "-;:+_.") {
			return strings.TrimRight(bare, "-;:+_.")
		}
	}
	return tag
}

// doubted is the reason of a visit whose 304 named another version.
func doubted(f contract.FetchOut) []crawl.Reason {
	if f.Outcome != crawl.OutcomeUnchanged || f.Status != http.StatusNotModified || !f.Validators || f.ETag != "" || f.LastModified != "" || f.RobotsTag != "" {
		return nil
	}
	return []crawl.Reason{{Code: schedule.CodeDoubted}}
}
