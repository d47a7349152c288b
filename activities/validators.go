package activities

import (
	"cmp"
	"strings"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
)

// conditions are the validators to send. After a failure none are sent: some servers, and what
// stands before them, answer conditions with an error, and would answer each retry so.
// A date ahead of us, by a mistake of the site, is not sent: servers that do not look at their
// clock (RFC 9110 13.1.3) would find nothing modified until it is reached.
func conditions(page store.PageRecord, now time.Time) (etag, lastModified string) {
	switch {
	case page.Failures > 0:
		return "", ""
	case httpTime(page.LastModified).After(now):
		return page.ETag, ""
	}
	return page.ETag, page.LastModified
}

// refresh sets the validators after a 304, which need not repeat those of the request. If it
// names another version they are dropped, so that the next visit asks for the whole page:
// with the other version's validators, ours would never be compared again (RFC 9111 4.3.4).
func refresh(out *contract.FetchOut, page store.PageRecord, r fetch.Result) {
	if out.Doubted = ofAnother(page, r); out.Doubted {
		out.Validators, out.ETag, out.LastModified = true, "", ""
		return
	}
	out.ETag, out.LastModified = page.ETag, cmp.Or(r.LastModified, page.LastModified)
	if page.ETag != "" { // else nothing says that the answer's is our version's
		out.ETag = cmp.Or(r.ETag, page.ETag)
	}
	out.Validators = out.ETag != page.ETag || out.LastModified != page.LastModified
}

// ofAnother reports whether a 304 names a version that is not ours: some servers look only at
// the date of a request that has an ETag as well. If both sides have an ETag, it decides.
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
