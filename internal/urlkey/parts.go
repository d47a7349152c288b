package urlkey

import (
	"slices"
	"strings"
)

// Segments returns the segments of the path that are not empty, still
// percent-encoded: "a" and "b" of /a//b/.
func (u URL) Segments() []string {
	return slices.DeleteFunc(strings.Split(u.Path(), "/"), func(s string) bool { return s == "" })
}

// PathDepth returns the number of segments of the path that are not empty.
func (u URL) PathDepth() int {
	depth, inside := 0, false
	path := u.Path()
	for i := range len(path) {
		if path[i] != '/' && !inside {
			depth++
		}
		inside = path[i] != '/'
	}
	return depth
}

// Params returns the parameters of the query, each as "name" or "name=value",
// still percent-encoded.
func (u URL) Params() []string {
	if u.IsZero() || u.Query() == "" {
		return nil
	}
	return slices.DeleteFunc(strings.Split(u.Query(), "&"), func(p string) bool { return p == "" })
}

// SURT returns the URL with its host's labels in reverse, so that a prefix of it
// can cover all names under a domain: "(com,example,www,:8080)/path?query". It has
// no scheme, since the schemes of SURT prefixes do not count.
func (u URL) SURT() string {
	if u.IsZero() {
		return ""
	}
	var b strings.Builder
	b.WriteByte('(')
	name := u.Hostname()
	if strings.HasPrefix(name, "[") {
		b.WriteString(name)
	} else {
		labels := strings.Split(name, ".")
		slices.Reverse(labels)
		b.WriteString(strings.Join(labels, ","))
	}
	b.WriteByte(',')
	if port := u.Port(); port != "" {
		b.WriteString(":" + port)
	}
	b.WriteByte(')')
	b.WriteString(u.Target())
	return b.String()
}

// ParamPatterns match the names of parameters.
type ParamPatterns struct{ patterns []namePattern }

// ParamNames makes patterns of names that may have a * at either end.
func ParamNames(texts []string) ParamPatterns {
	return ParamPatterns{newPatterns(texts)}
}

// InQuery reports whether the query has a parameter with such a name.
func (p ParamPatterns) InQuery(u URL) bool {
	if len(p.patterns) == 0 {
		return false
	}
	return slices.ContainsFunc(u.Params(), func(param string) bool { return firstPattern(p.patterns, paramName(param)) != nil })
}
