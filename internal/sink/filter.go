package sink

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/urlkey"
)

// Verdict says whether a change is sent, and why or why not.
type Verdict struct {
	Send   bool
	Reason string
}

func no(format string, args ...any) Verdict { return Verdict{Reason: fmt.Sprintf(format, args...)} }

// Filter decides which changes a sink is sent. It asks in two steps: Place needs only the
// event, Text also the texts of the page, which are read for few events.
type Filter struct {
	name  string
	kinds []feed.Kind
	hosts []string
	start []string
	when  *crawl.SinkWhen
	// usual: the spec names no kinds, so pages that never had content are left out.
	usual bool
	// requisites: the sink shows pages as their sites do.
	requisites bool
}

// NewFilter returns the filter of a sink.
func NewFilter(name string, spec crawl.SinkSpec) Filter {
	if crawl.HoldsCollection(spec.Kind) {
		return Filter{name: name, kinds: collectionKinds(), hosts: spec.Hosts, start: prefixes(spec.Prefix), requisites: spec.Format == "mirror"}
	}
	patterns := spec.Kinds
	switch {
	case len(patterns) > 0:
	case spec.When != nil:
		patterns = []string{feed.PageNew.String(), feed.PageChanged.String(), feed.PageBack.String()}
	default:
		patterns = crawl.DefaultSinkKinds()
	}
	f := Filter{name: name, hosts: spec.Hosts, start: prefixes(spec.Prefix), when: spec.When, usual: len(spec.Kinds) == 0}
	for _, kind := range feed.Kinds() {
		matches := slices.ContainsFunc(patterns, func(p string) bool { return crawl.KindMatches(p, kind.String()) })
		if matches && (spec.When == nil || hasText(kind)) {
			f.kinds = append(f.kinds, kind)
		}
	}
	return f
}

// prefixes returns beginnings of addresses as they were written and, where that differs, as
// canonical URLs spell them: no canonical URL begins with https://Example.com/%7Ejoe. Without a
// path only the latter count, which close the host: https://example.com must not match
// https://example.com.evil/.
func prefixes(texts []string) []string {
	var all []string
	for _, text := range texts {
		spelled := urlkey.Prefix(text)
		if _, rest, _ := strings.Cut(text, "://"); spelled == text || strings.Contains(rest, "/") {
			all = append(all, text)
		}
		if spelled != text {
			all = append(all, spelled)
		}
	}
	return all
}

// collectionKinds returns the kinds for a sink that holds the collection itself: all
// changes of pages, and those that affect how all pages are kept. Another sink's gap does not.
func collectionKinds() []feed.Kind {
	return slices.DeleteFunc(feed.Kinds(), func(k feed.Kind) bool { return !k.OfPage() && k != feed.CrawlSpec })
}

// hasText reports whether a page has a text after a change of the kind.
func hasText(k feed.Kind) bool {
	return k == feed.PageNew || k == feed.PageChanged || k == feed.PageBack
}

// Kinds returns the kinds of changes that the sink may be sent. Its own feed.gap is always
// among them: the keeper of a copy must know that it missed something.
func (f Filter) Kinds() []feed.Kind {
	if slices.Contains(f.kinds, feed.FeedGap) {
		return f.kinds
	}
	return append(slices.Clone(f.kinds), feed.FeedGap)
}

// Reads reports whether Text must be called.
func (f Filter) Reads() bool { return f.when != nil }

// Narrow reports whether Place depends on more than the kind.
func (f Filter) Narrow() bool { return len(f.hosts) > 0 || len(f.start) > 0 }

// Place decides by kind, host and prefix.
func (f Filter) Place(e feed.Event) Verdict {
	if e.Kind == feed.FeedGap && e.Sink == f.name {
		return Verdict{true, "the sink itself missed changes"}
	}
	if !slices.Contains(f.kinds, e.Kind) {
		return no("its kind, %s, is not asked for", e.Kind)
	}
	if e.Kind == feed.PageForgotten {
		return Verdict{true, "its page was forgotten, of which nobody knows any more where it was"}
	}
	known := e.Page != nil && e.Page.URL != ""
	if e.Kind.OfPage() && !known {
		return no("its page was forgotten since")
	}
	if known && e.Page.Source == crawl.KindRequisite && !f.requisites {
		return no("it is a requisite of pages, and the sink is for pages")
	}
	if f.usual && known && e.Page.Source.IsSource() {
		return no("its page is a %s, and the sink names no kinds", e.Page.Source)
	}
	if f.usual && e.Kind.OfPage() && !hasText(e.Kind) && e.Version == nil {
		return no("its page never had content, and the sink names no kinds")
	}
	if !f.Narrow() || e.Kind == feed.CrawlSpec {
		return Verdict{true, "its kind is asked for"}
	}
	if !known {
		return no("it is of no page, and the sink is for some pages only")
	}
	if len(f.hosts) > 0 && !f.hasHost(*e.Page) {
		return no("its host, %s, is not asked for", e.Page.Host)
	}
	if len(f.start) > 0 && !slices.ContainsFunc(f.start, func(p string) bool { return strings.HasPrefix(e.Page.URL, p) }) {
		return no("its address starts with no prefix that is asked for")
	}
	return Verdict{true, "its kind and its page are asked for"}
}

// hasHost reports whether a page is of one of the hosts. In a store that groups hosts, the page's
// is the name of the group, and its URL says which of them it is on.
func (f Filter) hasHost(p feed.EventPage) bool {
	names := []string{p.Host}
	if u, err := urlkey.Canonical(p.URL); err == nil {
		names = append(names, u.HostPort())
	}
	return slices.ContainsFunc(f.hosts, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return hostMatches(pattern, name) })
	})
}

// hostMatches reports whether a host matches a pattern, as in filters of the scope.
func hostMatches(pattern, host string) bool {
	if !hasPort(pattern) {
		host = withoutPort(host)
	}
	if under, wild := strings.CutPrefix(pattern, "*."); wild {
		return strings.HasSuffix(host, "."+under)
	}
	return pattern == host
}

func hasPort(host string) bool { return withoutPort(host) != host }

func withoutPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i]
	}
	return host
}
