package directive

import (
	"time"

	"recrawl/internal/crawl"
)

// Codes of the reasons of a verdict: the directive, and whether a header ("tag")
// or an element ("meta") gave it. They are stored; never change them.
const (
	CodeNoIndexTag  = "noindex-tag"
	CodeNoIndexMeta = "noindex-meta"
	// The unavailable codes have a number: after, in Unix seconds.
	CodeUnavailableTag  = "unavailable-tag"
	CodeUnavailableMeta = "unavailable-meta"
	CodeNoArchiveTag    = "noarchive-tag"
	CodeNoArchiveMeta   = "noarchive-meta"
	CodeNoFollowTag     = "nofollow-tag"
	CodeNoFollowMeta    = "nofollow-meta"
	// The cut codes: the page says more than is read, and the rest may be anything.
	CodeNoIndexCutMeta  = "noindex-cut-meta"
	CodeNoFollowCutMeta = "nofollow-cut-meta"
)

// Verdict says what may be done with a page.
type Verdict struct {
	// Keep: its body may be kept.
	Keep bool
	// Follow: its links may be followed.
	Follow bool
	// Reasons are why not: one against keeping, the strongest, and one against
	// following.
	Reasons []crawl.Reason
}

// Decide judges a page seen at a time by the directives of its headers and of
// its <meta> elements. Headers are never cut: an answer with too many of them to
// read has no content.
func Decide(tag, meta Directives, at time.Time) Verdict {
	v := Verdict{Keep: true, Follow: true}
	if reason, ok := againstKeeping(tag, meta, at); ok {
		v.Keep, v.Reasons = false, append(v.Reasons, reason)
	}
	if code := againstFollowing(tag, meta); code != "" {
		v.Follow, v.Reasons = false, append(v.Reasons, crawl.Reason{Code: code})
	}
	return v
}

func againstFollowing(tag, meta Directives) (code string) {
	if code := choose(tag.NoFollow, meta.NoFollow, CodeNoFollowTag, CodeNoFollowMeta); code != "" || !meta.Cut {
		return code
	}
	return CodeNoFollowCutMeta
}

func againstKeeping(tag, meta Directives, at time.Time) (crawl.Reason, bool) {
	if code := choose(tag.NoIndex, meta.NoIndex, CodeNoIndexTag, CodeNoIndexMeta); code != "" {
		return crawl.Reason{Code: code}, true
	}
	if meta.Cut {
		return crawl.Reason{Code: CodeNoIndexCutMeta}, true
	}
	if code := choose(tag.goneAt(at), meta.goneAt(at), CodeUnavailableTag, CodeUnavailableMeta); code != "" {
		after := tag.With(meta).UnavailableAfter
		return crawl.Reason{Code: code, Num: map[string]float64{"after": float64(after.Unix())}}, true
	}
	if code := choose(tag.NoArchive, meta.NoArchive, CodeNoArchiveTag, CodeNoArchiveMeta); code != "" {
		return crawl.Reason{Code: code}, true
	}
	return crawl.Reason{}, false
}

// goneAt reports whether the page is to be treated as gone at a time.
func (d Directives) goneAt(at time.Time) bool {
	return !d.UnavailableAfter.IsZero() && at.After(d.UnavailableAfter)
}

// choose names the place of a directive: the header, which is read first, the
// element, or nowhere.
func choose(tag, meta bool, tagCode, metaCode string) string {
	switch {
	case tag:
		return tagCode
	case meta:
		return metaCode
	}
	return ""
}

// AgainstKeeping returns those reasons of a visit for which it kept no body.
func AgainstKeeping(reasons []crawl.Reason) []crawl.Reason {
	var against []crawl.Reason
	for _, r := range reasons {
		if causes[r.Code].effect == notKept {
			against = append(against, r)
		}
	}
	return against
}

// NoFollowTag reports whether a visit's reasons include a header for which it
// followed no links.
func NoFollowTag(reasons []crawl.Reason) bool {
	for _, r := range reasons {
		if r.Code == CodeNoFollowTag {
			return true
		}
	}
	return false
}
