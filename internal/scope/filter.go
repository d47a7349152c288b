package scope

import (
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// truth is a filter's answer about a link, in Kleene's strong three-valued logic
// with two kinds of unknown: facts that can never be known about the link, and
// facts that can be known later.
type truth uint8

const (
	no truth = iota
	yes
	unknown // it cannot be known: the rule is passed over
	later   // a program did not answer: the link must wait
)

func (t truth) String() string {
	return [...]string{"no", "yes", "cannot be told", "no answer"}[t]
}

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// and: one no is enough; then an answer that may come counts more than one that never
// will.
func and(a, b truth) truth {
	switch {
	case a == no || b == no:
		return no
	case a == yes:
		return b
	case b == yes:
		return a
	}
	return max(a, b)
}

func or(a, b truth) truth { return not(and(not(a), not(b))) }

func not(t truth) truth {
	switch t {
	case no:
		return yes
	case yes:
		return no
	}
	return t
}

// filter is a filter of the spec, ready to be applied: all of its conditions.
type filter []condition

// condition is one field of a filter.
type condition struct {
	words string
	// holds decides; nil for all, any and not.
	holds func(*hearing) truth
	// inner are the filters of all, any and not, which is combine.
	inner   []filter
	combine combination
	program string // that is asked, "" for none
}

type combination uint8

const (
	allOf combination = iota
	anyOf
	noneOf
)

// match applies the filter. It stops as soon as the answer is certain, so that
// programs are not asked in vain: they come last in each filter.
func (f filter) match(h *hearing) truth {
	t := yes
	for _, c := range f {
		if t = and(t, c.match(h)); t == no {
			return no
		}
	}
	return t
}

func (c condition) match(h *hearing) truth {
	if c.holds != nil {
		return c.holds(h)
	}
	t := truthOf(c.combine != anyOf)
	for _, f := range c.inner {
		switch c.combine {
		case allOf:
			t = and(t, f.match(h))
		case anyOf:
			t = or(t, f.match(h))
		case noneOf:
			t = and(t, not(f.match(h)))
		}
		if t == truthOf(c.combine == anyOf) {
			break
		}
	}
	return t
}

// programs appends the names of the programs that the filter asks.
func (f filter) programs(names []string) []string {
	for _, c := range f {
		if c.program != "" && !slices.Contains(names, c.program) {
			names = append(names, c.program)
		}
		for _, inner := range c.inner {
			names = inner.programs(names)
		}
	}
	return names
}

// words describes the filter's conditions.
func (f filter) words() string {
	if len(f) == 0 {
		return "everything"
	}
	parts := make([]string, len(f))
	for i, c := range f {
		parts[i] = c.text()
	}
	return strings.Join(parts, " and ")
}

func (c condition) text() string {
	if c.holds != nil {
		return c.words
	}
	parts := make([]string, len(c.inner))
	for i, f := range c.inner {
		parts[i] = f.words()
	}
	switch {
	case c.combine == noneOf:
		return "not (" + parts[0] + ")"
	case len(parts) == 1:
		return parts[0]
	case c.combine == anyOf:
		return "(" + strings.Join(parts, " or ") + ")"
	}
	return "(" + strings.Join(parts, " and ") + ")"
}

// newFilter makes a filter of a valid spec. Cheap conditions come first, programs
// last.
func newFilter(spec crawl.FilterSpec, field string) (filter, error) {
	var f filter
	add := func(name string, values []string, holds func(Link) truth) {
		if len(values) > 0 {
			f = append(f, condition{words: name + " " + strings.Join(values, ", "), holds: func(h *hearing) truth { return holds(h.link) }})
		}
	}
	f.addNumbers(spec)
	add("scheme", spec.Scheme, func(l Link) truth { return truthOf(slices.Contains(spec.Scheme, l.URL.Scheme())) })
	add("host", spec.Host, anyText(spec.Host, onHost))
	add("domain", spec.Domain, func(l Link) truth {
		return truthOf(slices.Contains(spec.Domain, urlkey.RegistrableDomain(l.URL.Hostname())))
	})
	prefixes, err := newPrefixes(spec.Prefix, field+".prefix")
	if err != nil {
		return nil, err
	}
	add("prefix", spec.Prefix, func(l Link) truth { return truthOf(slices.ContainsFunc(prefixes, l.startsWith)) })
	add("extension", spec.Extension, inExtensions(spec.Extension))
	if err := f.addSeeds(spec.Seed, field+".seed"); err != nil {
		return nil, err
	}
	params := urlkey.ParamNames(spec.Param)
	add("param", spec.Param, func(l Link) truth { return truthOf(params.InQuery(l.URL)) })
	add("language", spec.Language, func(l Link) truth { return inLanguage(spec.Language, l.Language) })
	expressions, err := newExpressions(spec.Regex, field+".regex")
	if err != nil {
		return nil, err
	}
	add("regex", spec.Regex, func(l Link) truth {
		return truthOf(slices.ContainsFunc(expressions, func(re *regexp.Regexp) bool { return re.MatchString(l.URL.String()) }))
	})
	if err := f.addInner(spec, field); err != nil {
		return nil, err
	}
	f.addProgram(spec.Program)
	return f, nil
}

// addNumbers adds the conditions on numbers.
func (f *filter) addNumbers(spec crawl.FilterSpec) {
	for _, n := range []struct {
		name string
		in   *crawl.Range
		of   func(Link) int
	}{
		{"level", spec.Level, func(l Link) int { return l.Level }},
		{"hops off host", spec.HopsOffHost, func(l Link) int { return l.Hops }},
		{"length", spec.Length, func(l Link) int { return len(l.URL.String()) }},
		{"path depth", spec.PathDepth, func(l Link) int { return l.URL.PathDepth() }},
		{"params", spec.Params, func(l Link) int { return len(l.URL.Params()) }},
	} {
		if n.in != nil {
			in, of := *n.in, n.of
			*f = append(*f, condition{words: n.name + " " + in.String(), holds: func(h *hearing) truth { return truthOf(in.Has(of(h.link))) }})
		}
	}
}

// addInner adds all, any and not.
func (f *filter) addInner(spec crawl.FilterSpec, field string) error {
	for _, group := range []struct {
		field   string
		filters []crawl.FilterSpec
		combine combination
	}{{field + ".all", spec.All, allOf}, {field + ".any", spec.Any, anyOf}} {
		if len(group.filters) == 0 {
			continue
		}
		c := condition{combine: group.combine}
		for i, inner := range group.filters {
			one, err := newFilter(inner, group.field)
			if err != nil {
				return indexed(err, group.field, i)
			}
			c.inner = append(c.inner, one)
		}
		*f = append(*f, c)
	}
	if spec.Not != nil {
		inner, err := newFilter(*spec.Not, field+".not")
		if err != nil {
			return err
		}
		*f = append(*f, condition{combine: noneOf, inner: []filter{inner}})
	}
	return nil
}

func (f *filter) addProgram(name string) {
	if name == "" {
		return
	}
	*f = append(*f, condition{words: "program " + name, program: name, holds: func(h *hearing) truth {
		answer := h.ask(name)
		if answer.Unknown {
			return later
		}
		return truthOf(answer.Accept)
	}})
}
