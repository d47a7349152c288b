// Package change decides whether a page really changed, from digests of what
// was fetched.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"recrawl/internal/crawl"
)

// Digests are what one fetch of a page is compared by. The zero Digests are
// those of a page that has no version yet.
type Digests struct {
	Raw       string // SHA-256 of the body in hex, "" if it is not known any more
	Text      string // Digest of the main text
	Links     string // LinkDigest of the links
	Bytes     int64  // of the body
	TextBytes int64  // of the normalised main text
}

// Codes of the reasons of a verdict. They are stored; never change them.
const (
	// CodeFirst: no version is known. Numbers: bytes, text_bytes.
	CodeFirst = "first-version"
	// CodeSameBytes: the body is the last version's, byte for byte.
	CodeSameBytes = "same-bytes"
	// CodeSameText: other bytes, but the same main text. Numbers: bytes,
	// bytes_delta.
	CodeSameText = "same-text"
	// CodeText: the main text differs. Numbers: bytes, bytes_delta, text_bytes,
	// text_delta.
	CodeText = "text-differs"
	// CodeNoText: there is no text on either side, and the bytes differ. Numbers:
	// bytes, bytes_delta.
	CodeNoText = "bytes-differ"
	// CodeLinks: the set of links differs too.
	CodeLinks = "links-differ"
)

// Normalise reduces a text to what a reader would call the same text: every run
// of white space is one space.
func Normalise(text string) string { return strings.Join(strings.Fields(text), " ") }

// Digest returns the SHA-256 of the normalised text in hex.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(Normalise(text)))
	return hex.EncodeToString(sum[:])
}

// LinkDigest returns the SHA-256 of the set of links in hex; order and
// repetitions do not count. Links hold no line feed, being canonical URLs.
func LinkDigest(links []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(links)))
	sum := sha256.Sum256([]byte(strings.Join(sorted, "\n")))
	return hex.EncodeToString(sum[:])
}

// Verdict compares a fetch with the page's last version and says what changed,
// and why. An unknown text digest on either side is no evidence of sameness.
func Verdict(prev, next Digests) (crawl.Outcome, []crawl.Reason) {
	switch {
	case prev.Raw == "" && prev.Text == "":
		return crawl.OutcomeNew, []crawl.Reason{{Code: CodeFirst, Num: map[string]float64{
			"bytes": float64(next.Bytes), "text_bytes": float64(next.TextBytes),
		}}}
	case prev.Raw == next.Raw:
		return crawl.OutcomeUnchanged, []crawl.Reason{{Code: CodeSameBytes}}
	case prev.TextBytes == 0 && next.TextBytes == 0:
		return withoutText(prev, next)
	case prev.Text != "" && prev.Text == next.Text:
		return crawl.OutcomeCosmetic, withLinks(prev, next, crawl.Reason{Code: CodeSameText, Num: sizes(prev, next)})
	}
	num := sizes(prev, next)
	num["text_bytes"] = float64(next.TextBytes)
	num["text_delta"] = float64(next.TextBytes - prev.TextBytes)
	return crawl.OutcomeChanged, withLinks(prev, next, crawl.Reason{Code: CodeText, Num: num})
}

// withoutText judges pages that have no text at all, such as frame sets and
// pages made by scripts. Equal empty texts prove nothing there, so only equal
// links make the difference cosmetic.
func withoutText(prev, next Digests) (crawl.Outcome, []crawl.Reason) {
	reasons := withLinks(prev, next, crawl.Reason{Code: CodeNoText, Num: sizes(prev, next)})
	if prev.Links != "" && prev.Links == next.Links {
		return crawl.OutcomeCosmetic, reasons
	}
	return crawl.OutcomeChanged, reasons
}

func withLinks(prev, next Digests, reason crawl.Reason) []crawl.Reason {
	if prev.Links != next.Links {
		return []crawl.Reason{reason, {Code: CodeLinks}}
	}
	return []crawl.Reason{reason}
}

func sizes(prev, next Digests) map[string]float64 {
	return map[string]float64{"bytes": float64(next.Bytes), "bytes_delta": float64(next.Bytes - prev.Bytes)}
}
