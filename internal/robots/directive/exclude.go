// Package directive reads a page's requests to crawlers in its X-Robots-Tag headers
// and <meta name=robots> elements, and decides what may be kept and followed.
//
// It is a de-facto standard: statements to everybody and statements to one crawler
// by its product token apply together, and where two directives disagree the
// stricter one counts. So index, follow and all change nothing, and unknown
// directives are ignored. Lists are read as their authors meant them: anything
// between two directives separates them.
package directive

import (
	"strings"
	"time"
)

// Directives are a page's requests to one crawler. The zero value asks nothing.
type Directives struct {
	NoIndex, NoFollow, NoArchive bool
	// NoAI and NoImageAI reserve the page, and its images, for other uses than models. They
	// concern neither keeping nor following: see package reserve.
	NoAI, NoImageAI bool
	// UnavailableAfter is when the page should be treated as gone, in UTC; zero if it
	// does not say.
	UnavailableAfter time.Time
	// Cut: it asks more than was read. The rest may be anything, so noindex and
	// nofollow apply.
	Cut bool
}

// With returns the requests of both together: the stricter of each.
func (d Directives) With(other Directives) Directives {
	d.NoIndex = d.NoIndex || other.NoIndex
	d.NoFollow = d.NoFollow || other.NoFollow
	d.NoArchive = d.NoArchive || other.NoArchive
	d.NoAI = d.NoAI || other.NoAI
	d.NoImageAI = d.NoImageAI || other.NoImageAI
	d.Cut = d.Cut || other.Cut
	if after := other.UnavailableAfter; d.UnavailableAfter.IsZero() || !after.IsZero() && after.Before(d.UnavailableAfter) {
		d.UnavailableAfter = after
	}
	return d
}

// String writes the requests about keeping and following so that Parse reads them
// again; directives that were cut are written as their effect.
func (d Directives) String() string {
	var list []string
	for _, flag := range []struct {
		set  bool
		name string
	}{{d.NoIndex || d.Cut, "noindex"}, {d.NoFollow || d.Cut, "nofollow"}, {d.NoArchive, "noarchive"}} {
		if flag.set {
			list = append(list, flag.name)
		}
	}
	if !d.UnavailableAfter.IsZero() {
		list = append(list, "unavailable_after: "+d.UnavailableAfter.Format(time.RFC3339))
	}
	return strings.Join(list, ", ")
}

// Parse reads the content of a <meta name=robots>, or of a <meta> with a product
// token as its name. It takes time in proportion to the list.
func Parse(list string) Directives {
	var d Directives
	in := reader{text: list}
	for w, ok := in.next(); ok; w, ok = in.next() {
		said, _ := in.directive(w)
		d = d.With(said)
	}
	return d
}

// ParseTags reads X-Robots-Tag headers for a crawler by its product token. In
// each, directives are for everybody until an item begins with the token to which
// it and those after it are addressed ("noarchive, otherbot: noindex, nofollow").
// Items that consist of a token only address the same directives ("recrawl,
// otherbot: none"). It takes time in proportion to the headers.
func ParseTags(headers []string, agent string) Directives {
	var d Directives
	for _, header := range headers {
		d = d.With(parseTag(header, agent))
	}
	return d
}

func parseTag(header, agent string) Directives {
	var d Directives
	in := reader{text: header}
	ours := true
	named := false // by an earlier item, which is only our token
	for w, ok := in.next(); ok; w, ok = in.next() {
		if w.isToken() {
			ours, named = named || isFor(w.text, agent), false
			in.first = strings.EqualFold(w.text, ownName)
			continue
		}
		said, known := in.directive(w)
		if ours = ours || known && named && !w.first; ours {
			d = d.With(said)
		}
		named = !known && (named || w.first && isFor(w.text, agent))
	}
	return d
}
