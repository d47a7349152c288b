package urlkey

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/crawl"
)

// Rules hold a crawl's knowledge of its sites that no standard provides: parameters
// that do not choose a page, and parameters whose order does not matter. They
// change only path parameters and the query. The zero Rules change nothing.
type Rules struct {
	params, pathParams []namePattern
	sortQuery          bool
}

// NewRules makes the rules of a valid spec.
func NewRules(spec crawl.URLSpec) Rules {
	return Rules{params: newPatterns(spec.StripParams), pathParams: newPatterns(spec.StripPathParams), sortQuery: spec.SortQuery}
}

// Apply returns the URL under which the crawl keeps u, with a step in words for
// each change. Applying again changes nothing.
func (r Rules) Apply(u URL) (URL, []string) {
	if u.IsZero() {
		return u, nil
	}
	path, steps := r.stripPath(u.Path())
	query, querySteps := r.changeQuery(u.text[u.path:])
	steps = append(steps, querySteps...)
	if len(steps) == 0 {
		return u, nil
	}
	u.text, u.path = u.Origin()+path+query, u.authority+len(path)
	return u, steps
}

// stripPath removes parameters from each segment of a path: "/a;v=1;id=2/b".
func (r Rules) stripPath(path string) (string, []string) {
	if len(r.pathParams) == 0 || !strings.Contains(path, ";") {
		return path, nil
	}
	var steps []string
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, params, _ := strings.Cut(segment, ";")
		kept, removed := strip(params, ";", r.pathParams, "path parameter %s (strip_path_params %s)")
		if kept != "" {
			kept = ";" + kept
		}
		// "..;id=1" is a name and ".." is not: the rest would lead elsewhere.
		if rest := name + kept; len(removed) > 0 && rest != "." && rest != ".." {
			segments[i] = rest
			steps = append(steps, removed...)
		}
	}
	return strings.Join(segments, "/"), steps
}

// changeQuery strips and sorts a query, which starts with its question mark
// unless there is none.
func (r Rules) changeQuery(query string) (string, []string) {
	if query == "" {
		return "", nil
	}
	kept, steps := strip(query[1:], "&", r.params, "parameter %s (strip_params %s)")
	if kept == "" && len(steps) > 0 {
		return "", steps // no query is left
	}
	if sorted := sortedQuery(kept); r.sortQuery && sorted != kept {
		kept = sorted
		steps = append(steps, "sorted the query (sort_query)")
	}
	return "?" + kept, steps
}

// sortedQuery orders parameters by name. Those of one name keep their order,
// which many servers tell apart.
func sortedQuery(query string) string {
	params := strings.Split(query, "&")
	slices.SortStableFunc(params, func(a, b string) int { return strings.Compare(paramName(a), paramName(b)) })
	return strings.Join(params, "&")
}

// strip removes the parameters that a pattern matches, and says so in steps of
// the format, which takes the name and the pattern.
func strip(list, separator string, patterns []namePattern, format string) (kept string, steps []string) {
	if len(patterns) == 0 {
		return list, nil
	}
	var rest []string
	for _, param := range strings.Split(list, separator) {
		if p := firstPattern(patterns, paramName(param)); p != nil {
			steps = append(steps, fmt.Sprintf("removed the "+format, paramName(param), p.text))
		} else {
			rest = append(rest, param)
		}
	}
	return strings.Join(rest, separator), steps
}

func paramName(param string) string {
	name, _, _ := strings.Cut(param, "=")
	return name
}

// namePattern matches the names of parameters as a canonical URL spells them.
type namePattern struct {
	text              string // as written
	part              string // the text that a name must have
	openHead, openEnd bool   // whether more may stand before and after it
}

func newPatterns(texts []string) []namePattern {
	var patterns []namePattern
	for _, text := range texts {
		p := namePattern{text: text}
		var part string
		part, p.openEnd = strings.CutSuffix(text, "*")
		part, p.openHead = strings.CutPrefix(part, "*")
		var b strings.Builder
		writeEncoded(&b, part)
		p.part = b.String()
		patterns = append(patterns, p)
	}
	return patterns
}

func firstPattern(patterns []namePattern, name string) *namePattern {
	if name == "" {
		return nil // between two separators there is no parameter
	}
	for i := range patterns {
		if patterns[i].matches(name) {
			return &patterns[i]
		}
	}
	return nil
}

func (p *namePattern) matches(name string) bool {
	switch {
	case p.openHead && p.openEnd:
		return strings.Contains(name, p.part)
	case p.openHead:
		return strings.HasSuffix(name, p.part)
	case p.openEnd:
		return strings.HasPrefix(name, p.part)
	}
	return name == p.part
}
