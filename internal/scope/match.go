package scope

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// indexed puts the position in a list into the field that an error names.
func indexed(err error, list string, i int) error {
	var wrong *crawl.SpecError
	if !errors.As(err, &wrong) {
		return err
	}
	rest := strings.TrimPrefix(wrong.Field, list)
	return &crawl.SpecError{Field: fmt.Sprintf("%s[%d]%s", list, i, rest), Problem: wrong.Problem}
}

func anyText(texts []string, holds func(Link, string) bool) func(Link) truth {
	return func(l Link) truth {
		return truthOf(slices.ContainsFunc(texts, func(text string) bool { return holds(l, text) }))
	}
}

// onHost matches a host pattern; without a port any port.
func onHost(l Link, pattern string) bool {
	host := l.URL.Hostname()
	if hasPort(pattern) {
		host = l.URL.HostPort()
	}
	if parent, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, parent)
	}
	return host == pattern
}

func hasPort(host string) bool {
	return strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":")
}

// prefix is the start of a URL.
type prefix struct {
	text string
	form prefixForm
}

type prefixForm uint8

const (
	withScheme    prefixForm = iota // https://example.com/docs/
	withoutScheme                   // example.com/docs/
	surt                            // (com,example,
)

func newPrefixes(texts []string, field string) ([]prefix, error) {
	all := make([]prefix, len(texts))
	for i, text := range texts {
		p, err := newPrefix(text)
		if err != nil {
			if len(texts) > 1 {
				field = fmt.Sprintf("%s[%d]", field, i)
			}
			return nil, &crawl.SpecError{Field: field, Problem: err.Error()}
		}
		all[i] = p
	}
	return all, nil
}

// newPrefix brings a prefix into the spelling of canonical URLs, without which it
// would match none.
func newPrefix(text string) (prefix, error) {
	if rest, ok := cutSURT(text); ok {
		return newSURTPrefix(text, rest)
	}
	form, whole := withScheme, text
	if !strings.Contains(text, "://") {
		form, whole = withoutScheme, "http://"+text
	}
	u, err := urlkey.Canonical(whole)
	if err == nil && strings.HasPrefix(text, "/") {
		err = errors.New("it has no host")
	}
	if err != nil {
		return prefix{}, fmt.Errorf("%q is not the start of a URL such as https://example.com/docs/ or (com,example,: %w", text, err)
	}
	spelled := u.String()
	if form == withoutScheme {
		spelled = u.Host() + u.Target()
	}
	return prefix{spelled, form}, nil
}

// newSURTPrefix spells the host of a SURT prefix in lower case and its path as canonical URLs
// have it, in which case counts. Rest is the prefix without its scheme.
func newSURTPrefix(text, rest string) (prefix, error) {
	host, target, whole := strings.Cut(rest, ")")
	labels := strings.Split(strings.ToLower(host[1:]), ",")
	for i, label := range labels {
		if ascii, err := urlkey.Canonical("http://" + label + ".invalid/"); err == nil && label != "" {
			labels[i] = strings.TrimSuffix(ascii.Hostname(), ".invalid")
		}
	}
	host = "(" + strings.Join(labels, ",")
	if !whole {
		return prefix{host, surt}, nil
	}
	if target == "" {
		return prefix{host + ")", surt}, nil
	}
	u, err := urlkey.Canonical("http://host.invalid" + target)
	if err == nil && target[0] != '/' {
		err = errors.New("no path follows its host")
	}
	if err != nil {
		return prefix{}, fmt.Errorf("%q is not the start of a SURT such as (com,example,)/docs/: %w", text, err)
	}
	return prefix{host + ")" + u.Target(), surt}, nil
}

// cutSURT returns a SURT prefix from its parenthesis on. The scheme, if it has
// one, does not count: SURTs are prefixes of both.
func cutSURT(text string) (string, bool) {
	for _, scheme := range []string{"", "http://", "https://"} {
		if rest, ok := strings.CutPrefix(text, scheme); ok && strings.HasPrefix(rest, "(") {
			return rest, true
		}
	}
	return "", false
}

func (l Link) startsWith(p prefix) bool {
	switch p.form {
	case withoutScheme:
		return strings.HasPrefix(l.URL.Host()+l.URL.Target(), p.text)
	case surt:
		return strings.HasPrefix(l.URL.SURT(), p.text)
	}
	return strings.HasPrefix(l.URL.String(), p.text)
}

func newExpressions(texts []string, field string) ([]*regexp.Regexp, error) {
	all := make([]*regexp.Regexp, len(texts))
	for i, text := range texts {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, &crawl.SpecError{Field: field, Problem: fmt.Sprintf("%q is no regular expression (RE2 syntax)", text)}
		}
		all[i] = re
	}
	return all, nil
}

// inExtensions matches the last segment's extension, the longest one first: .gz
// and .tar.gz both match a.tar.gz.
func inExtensions(texts []string) func(Link) truth {
	known := map[string]bool{}
	var long []string // of more than one dot
	groups := crawl.ExtensionGroups()
	for _, text := range texts {
		for _, extension := range append(groups[text], text) {
			extension = strings.ToLower(extension)
			known[extension] = true
			if strings.Count(extension, ".") > 1 {
				long = append(long, extension)
			}
		}
	}
	return func(l Link) truth {
		name := lastSegment(l.URL)
		return truthOf(known[path.Ext(name)] || slices.ContainsFunc(long, func(e string) bool { return strings.HasSuffix(name, e) }))
	}
}

// lastSegment is the name of a path's file in lower case, without parameters of
// the path.
func lastSegment(u urlkey.URL) string {
	name, _, _ := strings.Cut(path.Base(u.Path()), ";")
	if strings.HasSuffix(u.Path(), "/") {
		return ""
	}
	return strings.ToLower(name)
}

// inLanguage matches as RFC 4647 (section 3.3.1) filters: a range is a tag or its
// start, up to a hyphen.
func inLanguage(ranges []string, tag string) truth {
	if tag == "" {
		return unknown
	}
	return truthOf(slices.ContainsFunc(ranges, func(r string) bool {
		return len(tag) >= len(r) && strings.EqualFold(tag[:len(r)], r) && (len(tag) == len(r) || tag[len(r)] == '-')
	}))
}
