package directive

import (
	"time"

	"recrawl/internal/crawl"
)

// effect is the consequence of a reason, in words.
type effect string

const (
	notKept     effect = "no body kept"
	notFollowed effect = "no links followed"
)

// causes are the reasons' causes and effects.
var causes = map[string]struct {
	words  string
	effect effect
}{
	CodeNoIndexTag:      {"noindex by X-Robots-Tag", notKept},
	CodeNoIndexMeta:     {"noindex by meta robots", notKept},
	CodeUnavailableTag:  {"unavailable_after by X-Robots-Tag", notKept},
	CodeUnavailableMeta: {"unavailable_after by meta robots", notKept},
	CodeNoArchiveTag:    {"noarchive by X-Robots-Tag", notKept},
	CodeNoArchiveMeta:   {"noarchive by meta robots", notKept},
	CodeNoFollowTag:     {"nofollow by X-Robots-Tag", notFollowed},
	CodeNoFollowMeta:    {"nofollow by meta robots", notFollowed},
	CodeNoIndexCutMeta:  {"meta robots too long to read, taken as noindex", notKept},
	CodeNoFollowCutMeta: {"meta robots too long to read, taken as nofollow", notFollowed},
}

// Word words a reason of a verdict plainly; false if it is none of this package's.
func Word(r crawl.Reason) (string, bool) {
	cause, ok := causes[r.Code]
	if !ok {
		return "", false
	}
	words := cause.words
	if after, ok := r.Num["after"]; ok {
		words += time.Unix(int64(after), 0).UTC().Format(" (2006-01-02 15:04 UTC)")
	}
	return words + ": " + string(cause.effect), true
}
