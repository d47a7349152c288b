package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ScopeRule accepts or rejects the URLs that its filter matches. Exactly one of
// Accept and Reject is set.
type ScopeRule struct {
	// Name is the name under which rejections are counted, 1 to 40 characters; by default
	// the filter in words.
	Name   string      `json:"name,omitempty"`
	Accept *FilterSpec `json:"accept,omitempty"`
	Reject *FilterSpec `json:"reject,omitempty"`
}

// FilterSpec matches URLs: those that meet all of its conditions; none matches
// every URL. A condition with a list is met by any of its values. Conditions that
// cannot be told are neither met nor not met, and their rule is passed over.
type FilterSpec struct {
	// All are filters that must all match.
	All []FilterSpec `json:"all,omitempty"`
	// Any are filters, one of which must match.
	Any []FilterSpec `json:"any,omitempty"`
	// Not is a filter that must not match.
	Not *FilterSpec `json:"not,omitempty"`
	// Scheme is one of http and https.
	Scheme Texts `json:"scheme,omitempty"`
	// Host is a host name: example.com is that host alone, *.example.com every name under
	// it. With a port (example.com:8080) it covers only that port, otherwise any.
	Host Texts `json:"host,omitempty"`
	// Domain is a registrable domain with all names under it, such as example.co.uk.
	Domain Texts `json:"domain,omitempty"`
	// Prefix is the start of a URL: https://example.com/docs/, or example.com/docs/
	// for http and https; or a SURT prefix, (uk,co,example, for all names under
	// example.co.uk.
	Prefix Texts `json:"prefix,omitempty"`
	// PathDepth is the number of segments of the path: 2 in /docs/intro.html and in
	// /docs/guide/.
	PathDepth *Range `json:"path_depth,omitempty"`
	// Extension is how the last segment of the path ends: .pdf, or a group: images,
	// styles, scripts, documents, archives, media. Case does not matter.
	Extension Texts `json:"extension,omitempty"`
	// Param is the name of a parameter of the query, such as sort or utm_*; a * may
	// stand at the start and at the end.
	Param Texts `json:"param,omitempty"`
	// Params is the number of parameters of the query.
	Params *Range `json:"params,omitempty"`
	// Regex is a regular expression (RE2 syntax) that is found somewhere in the URL.
	Regex Texts `json:"regex,omitempty"`
	// Length is the number of bytes of the URL.
	Length *Range `json:"length,omitempty"`
	// Seed is a seed by its URL; it covers what scope.type covers of it: its folder, host or
	// domain, and its host with the types page and any. With level, each seed can have a
	// depth of its own.
	Seed Texts `json:"seed,omitempty"`
	// Level is the number of links from a seed.
	Level *Range `json:"level,omitempty"`
	// HopsOffHost is the number of links since the seeds' hosts were left; 0 on them.
	HopsOffHost *Range `json:"hops_off_host,omitempty"`
	// Language is the language of the page on which the link stands: de is any German, de-at
	// Austrian. Redirects have none, and some pages do not state one.
	Language Texts `json:"language,omitempty"`
	// Program is the name of a filter program of the worker (RECRAWL_FILTERS) that must
	// accept the URL. Links wait until it answers.
	Program string `json:"program,omitempty"`
}

// Range is a number's least and greatest value; a missing one is no bound.
type Range struct {
	Min *int `json:"min,omitempty"`
	Max *int `json:"max,omitempty"`
}

// Has reports whether n is in the range.
func (r Range) Has(n int) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// String writes the range: "2 to 4", "up to 4", "2 and more".
func (r Range) String() string {
	switch {
	case r.Min != nil && r.Max != nil && *r.Min == *r.Max:
		return fmt.Sprint(*r.Min)
	case r.Min != nil && r.Max != nil:
		return fmt.Sprintf("%d to %d", *r.Min, *r.Max)
	case r.Max != nil:
		return fmt.Sprintf("up to %d", *r.Max)
	case r.Min != nil:
		return fmt.Sprintf("%d and more", *r.Min)
	}
	return "any"
}

// Texts is a list of texts that may be written as one text.
type Texts []string

// UnmarshalJSON accepts a text and a list of texts.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = Texts{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return errors.New("write a text or a list of texts")
	}
	*t = append(Texts{}, list...)
	return nil
}

// ExtensionGroups are the groups of extensions that a filter may name. Bouras et
// al. (section 3.1) leave out images, styles and scripts; the others are further
// kinds of files that crawlers usually leave out.
func ExtensionGroups() map[string][]string {
	return map[string][]string{
		"images":    {".avif", ".bmp", ".gif", ".heic", ".ico", ".jpeg", ".jpg", ".jxl", ".png", ".psd", ".svg", ".svgz", ".tif", ".tiff", ".webp"},
		"styles":    {".css", ".eot", ".less", ".otf", ".scss", ".ttf", ".woff", ".woff2", ".xsl", ".xslt"},
		"scripts":   {".js", ".jsonp", ".map", ".mjs", ".swf", ".ts", ".wasm"},
		"documents": {".csv", ".doc", ".docx", ".epub", ".mobi", ".odp", ".ods", ".odt", ".pdf", ".ppt", ".pptx", ".ps", ".rtf", ".tex", ".xls", ".xlsx"},
		"archives":  {".7z", ".apk", ".bz2", ".deb", ".dmg", ".exe", ".gz", ".iso", ".jar", ".lz", ".msi", ".pkg", ".rar", ".rpm", ".tar", ".tgz", ".war", ".xz", ".zip", ".zst"},
		"media":     {".aac", ".avi", ".flac", ".flv", ".m3u8", ".m4a", ".m4v", ".mid", ".mkv", ".mov", ".mp3", ".mp4", ".mpeg", ".mpg", ".ogg", ".ogv", ".opus", ".wav", ".weba", ".webm", ".wma", ".wmv"},
	}
}

// Limits of scope rules: every one may be tried on every link.
const (
	maxScopeRules  = 200
	maxFilterDepth = 10
	maxFilterTexts = 500
	maxFilterText  = 1000
	maxRuleName    = 40
)

func (s *Spec) validateScope(bad badField) error {
	sc := s.Scope
	switch {
	case !slices.Contains(ScopeTypes(), sc.Type):
		return bad("scope.type", "%q: use one of %s", sc.Type, strings.Join(ScopeTypes(), ", "))
	case sc.MaxDepth < 0:
		return bad("scope.max_depth", "is negative; 0 means unlimited")
	case sc.MaxHopsOffHost < 0:
		return bad("scope.max_hops_off_host", "is negative; 0 means unlimited")
	case len(sc.Rules) > maxScopeRules:
		return bad("scope.rules", "has %d rules; at most %d", len(sc.Rules), maxScopeRules)
	}
	names := map[string]int{}
	for i, rule := range sc.Rules {
		field := fmt.Sprintf("scope.rules[%d]", i)
		if other, taken := names[rule.Name]; taken {
			return bad(field+".name", "%q is the name of rule %d too", rule.Name, other)
		}
		if rule.Name != "" {
			names[rule.Name] = i
		}
		if err := rule.validate(field, bad); err != nil {
			return err
		}
	}
	return nil
}

// badField makes the error of a field.
type badField func(field, format string, args ...any) error

func (r ScopeRule) validate(field string, bad badField) error {
	switch {
	case (r.Accept == nil) == (r.Reject == nil):
		return bad(field, "write either accept or reject, with a filter")
	case len(r.Name) > maxRuleName || r.Name != strings.TrimSpace(r.Name) || strings.ContainsFunc(r.Name, func(c rune) bool { return c < ' ' || c == 0x7F }):
		return bad(field+".name", "%.60q: a name has at most %d characters on one line", r.Name, maxRuleName)
	case r.Accept != nil:
		return r.Accept.validate(field+".accept", bad, 1)
	}
	return r.Reject.validate(field+".reject", bad, 1)
}

func (f FilterSpec) validate(field string, bad badField, depth int) error {
	if depth > maxFilterDepth {
		return bad(field, "filters are nested more than %d deep", maxFilterDepth)
	}
	for _, list := range []struct {
		name    string
		filters []FilterSpec
	}{{"all", f.All}, {"any", f.Any}} {
		if list.filters != nil && len(list.filters) == 0 {
			return bad(field+"."+list.name, "is empty: give at least one filter")
		}
		for i, inner := range list.filters {
			if err := inner.validate(fmt.Sprintf("%s.%s[%d]", field, list.name, i), bad, depth+1); err != nil {
				return err
			}
		}
	}
	if f.Not != nil {
		if err := f.Not.validate(field+".not", bad, depth+1); err != nil {
			return err
		}
	}
	if err := f.validateRanges(field, bad); err != nil {
		return err
	}
	return f.validateTexts(field, bad)
}

func (f FilterSpec) validateRanges(field string, bad badField) error {
	for _, r := range []struct {
		name string
		*Range
	}{
		{"path_depth", f.PathDepth},
		{"params", f.Params},
		{"length", f.Length},
		{"level", f.Level},
		{"hops_off_host", f.HopsOffHost},
	} {
		switch {
		case r.Range == nil:
		case r.Min == nil && r.Max == nil:
			return bad(field+"."+r.name, "give min, max or both")
		case r.Min != nil && *r.Min < 0, r.Max != nil && *r.Max < 0:
			return bad(field+"."+r.name, "is negative")
		case r.Min != nil && r.Max != nil && *r.Min > *r.Max:
			return bad(field+"."+r.name, "min %d is above max %d", *r.Min, *r.Max)
		}
	}
	return nil
}

func (f FilterSpec) validateTexts(field string, bad badField) error {
	for _, list := range []struct {
		name  string
		texts Texts
		check func(string) error
	}{
		{"scheme", f.Scheme, checkScheme},
		{"host", f.Host, checkHostPattern},
		{"domain", f.Domain, checkHostName},
		{"prefix", f.Prefix, nil},
		{"seed", f.Seed, nil},
		{"extension", f.Extension, checkExtension},
		{"param", f.Param, func(s string) error { return checkParamName(s, "&=#", "sort or utm_*") }},
		{"regex", f.Regex, checkRegex},
		{"language", f.Language, checkLanguage},
	} {
		if list.texts == nil {
			continue
		}
		if len(list.texts) == 0 || len(list.texts) > maxFilterTexts {
			return bad(field+"."+list.name, "has %d values; give 1 to %d", len(list.texts), maxFilterTexts)
		}
		for i, text := range list.texts {
			where := field + "." + list.name
			if len(list.texts) > 1 {
				where = fmt.Sprintf("%s[%d]", where, i)
			}
			if text == "" || len(text) > maxFilterText {
				return bad(where, "has %d bytes; write 1 to %d", len(text), maxFilterText)
			}
			if list.check == nil {
				continue
			}
			if err := list.check(text); err != nil {
				return bad(where, "%v", err)
			}
		}
	}
	if f.Program != "" && !ValidFilterName(f.Program) {
		return bad(field+".program", "%q is not the name of a program: use 1 to 40 of a-z 0-9 . _ -", f.Program)
	}
	return nil
}

// ValidFilterName reports whether s can name a filter program.
func ValidFilterName(s string) bool { return ValidName(s) }

func checkScheme(s string) error {
	if s != "http" && s != "https" {
		return fmt.Errorf("%q: use http or https", s)
	}
	return nil
}

var (
	hostNameRE = regexp.MustCompile(`^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$`)
	hostAddrRE = regexp.MustCompile(`^\[[0-9a-f:.]+\]$`)
	portRE     = regexp.MustCompile(`:[0-9]{1,5}$`)
	languageRE = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

func checkHostName(s string) error {
	if !hostNameRE.MatchString(s) && !hostAddrRE.MatchString(s) {
		return fmt.Errorf("%q is not a host name such as example.com, in lower case (and Punycode)", s)
	}
	return nil
}

func checkHostPattern(s string) error {
	name := portRE.ReplaceAllString(strings.TrimPrefix(s, "*."), "")
	if checkHostName(name) != nil {
		return fmt.Errorf("%q is not a host such as example.com, *.example.com or example.com:8080, in lower case (and Punycode)", s)
	}
	return nil
}

func checkExtension(s string) error {
	groups := ExtensionGroups()
	if _, group := groups[s]; group {
		return nil
	}
	rest, dotted := strings.CutPrefix(s, ".")
	if !dotted || rest == "" || strings.ContainsAny(rest, "/?# ") {
		names := make([]string, 0, len(groups))
		for name := range groups {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("%q is neither an extension such as .pdf nor one of the groups %s", s, strings.Join(names, ", "))
	}
	return nil
}

func checkRegex(s string) error {
	if _, err := regexp.Compile(s); err != nil {
		return fmt.Errorf("%q is no regular expression (RE2 syntax): %s", s, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return nil
}

func checkLanguage(s string) error {
	if !languageRE.MatchString(s) {
		return fmt.Errorf("%q is not a language tag such as de or pt-br", s)
	}
	return nil
}
