// Package change decides whether a page really changed, from digests and sketches
// of the fetched content.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"recrawl/internal/crawl"
)

// Digests are the values by which fetches of a page are compared. The zero Digests
// are those of a page that has no version yet.
type Digests struct {
	Raw       string // SHA-256 of the body in hex, "" if it is no longer known
	Text      string // SHA-256 of the normalised main text, in hex
	Links     string // LinkDigest of the links
	Bytes     int64  // of the body
	TextBytes int64  // of the normalised main text
	Sketch    Sketch // of the main text, empty if it is not known or there are no words
	// Unread: nobody reads text or links in bodies of its media type. It is known of fetches
	// only.
	Unread bool
}

// DefaultThreshold is the resemblance from which two texts count as the same,
// unless they are examined more closely. With s = 128 it allows two shingles of the
// sketch to differ, or about five words in a text of a thousand.
const DefaultThreshold = 0.98

// Difference is the result of comparing two texts, rather than their sketches.
type Difference uint8

// The possible differences between two texts.
const (
	// DifferenceUnknown: the texts were not compared, or one of them is not kept.
	DifferenceUnknown Difference = iota
	// DifferenceNoise: only parts that change by themselves, such as a clock, a
	// counter or an advertisement.
	DifferenceNoise
	// DifferenceEdit: something that a reader comes for, even one digit of a price.
	DifferenceEdit
)

// Rule says how Verdict judges main texts that differ.
type Rule struct {
	// Threshold is the resemblance, in (0, 1], from which they count as one text when
	// Difference is unknown; 0 stands for DefaultThreshold.
	Threshold float64
	// Difference is the result of comparing the texts. It decides whatever the
	// resemblance is: one changed price in a thousand words resembles above 0.98, a
	// clock in fifty words below 0.9. NeedsLook says when it counts.
	Difference Difference
}

func (r Rule) threshold() float64 {
	if r.Threshold == 0 {
		return DefaultThreshold
	}
	return r.Threshold
}

// cosmetic judges two texts that differ, by their resemblance if it is known.
func (r Rule) cosmetic(resemblance float64, known bool) bool {
	switch r.Difference {
	case DifferenceNoise:
		return true
	case DifferenceEdit:
		return false
	}
	return known && resemblance >= r.threshold()
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
	// text_delta and, if it is known, resemblance.
	CodeText = "text-differs"
	// CodeEdit: the main text differs by little, but in something that a reader comes
	// for. Numbers: threshold, which the resemblance reaches.
	CodeEdit = "edit"
	// CodeResembles: the main text differs so little that it counts as the same.
	// Numbers: those of CodeText, and threshold.
	CodeResembles = "text-resembles"
	// CodeNoise: the main text differs only in parts that change by themselves.
	// Numbers: those of CodeText.
	CodeNoise = "noise"
	// CodeNoText: there is no text on either side, and the bytes differ. Numbers:
	// bytes, bytes_delta.
	CodeNoText = "bytes-differ"
	// CodeTitle: the text is the same, or differs by noise, but the title is another.
	CodeTitle = "title-differs"
	// CodeBeside: the text is the same, but not what a reader sees in it beside its words:
	// which cells are empty, how code is indented, what is struck out, and where mail and
	// telephone links lead.
	CodeBeside = "looks-differ"
	// CodeLinks: the set of links differs too.
	CodeLinks = "links-differ"
	// CodeDuplicate: another page, whose URL is the text, has the same content. It is
	// not a reason of Verdict but goes with it; so does CodeNearDuplicate. If that page was
	// forgotten, the text says so instead.
	CodeDuplicate = "duplicate-of"
	// CodeNearDuplicate: another page, whose URL is the text, has nearly the same
	// content. Numbers: resemblance.
	CodeNearDuplicate = "near-duplicate-of"
)

// LinkDigest returns the SHA-256 of the set of links in hex; order and
// repetitions do not count. Links hold no line feed, being canonical URLs.
func LinkDigest(links []string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(links)))
	sum := sha256.Sum256([]byte(strings.Join(sorted, "\n")))
	return hex.EncodeToString(sum[:])
}

// Verdict compares a fetch with the page's last version and says what changed,
// and why. An unknown text digest or sketch on either side is no evidence of
// sameness. The comparison is with the last version, not with the last visit, so
// that many small differences add up to a change. A page that returns to an earlier
// version differs from the last one: see Return.
func Verdict(prev, next Digests, rule Rule) (crawl.Outcome, []crawl.Reason) {
	switch {
	case prev.first():
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
	return otherText(prev, next, rule)
}

// NeedsLook reports whether Verdict depends on Rule.Difference: both sides have a
// main text, and these differ.
func NeedsLook(prev, next Digests) bool {
	return !prev.first() && prev.Raw != next.Raw && prev.Text != next.Text && prev.TextBytes > 0 && next.TextBytes > 0
}

// first reports whether these are the digests of a page without a version.
func (d Digests) first() bool { return d.Raw == "" && d.Text == "" }

// otherText judges main texts that differ.
func otherText(prev, next Digests, rule Rule) (crawl.Outcome, []crawl.Reason) {
	num := sizes(prev, next)
	num["text_bytes"] = float64(next.TextBytes)
	num["text_delta"] = float64(next.TextBytes - prev.TextBytes)
	known := len(prev.Sketch) > 0 && len(next.Sketch) > 0
	resemblance := prev.Sketch.Resemblance(next.Sketch)
	if known {
		num["resemblance"] = resemblance
	}
	if !NeedsLook(prev, next) {
		rule.Difference = DifferenceUnknown // there is no text to look at
	}
	if rule.cosmetic(resemblance, known) {
		reason := crawl.Reason{Code: CodeNoise, Num: num}
		if rule.Difference != DifferenceNoise {
			num["threshold"] = rule.threshold()
			reason.Code = CodeResembles
		}
		return crawl.OutcomeCosmetic, withLinks(prev, next, reason)
	}
	reasons := withLinks(prev, next, crawl.Reason{Code: CodeText, Num: num})
	if known && resemblance >= rule.threshold() {
		reasons = append(reasons, crawl.Reason{Code: CodeEdit, Num: map[string]float64{"threshold": rule.threshold()}})
	}
	return crawl.OutcomeChanged, reasons
}

// withoutText judges pages that have no text at all, such as frame sets and
// pages made by scripts. Equal empty texts prove nothing there, so only equal
// links make the difference cosmetic. Where links are not read either, such as in
// pictures, any other byte is a change.
func withoutText(prev, next Digests) (crawl.Outcome, []crawl.Reason) {
	reasons := withLinks(prev, next, crawl.Reason{Code: CodeNoText, Num: sizes(prev, next)})
	if !prev.Unread && !next.Unread && prev.Links != "" && prev.Links == next.Links {
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
