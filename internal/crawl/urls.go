package crawl

import (
	"fmt"
	"strings"
)

// Limits of URLSpec: every name is compared with every parameter of every link.
const (
	maxStripNames = 200
	maxStripName  = 200
)

func (s *Spec) validateURLs(bad badField) error {
	for _, list := range []struct {
		field, separators, example string
		names                      []string
	}{
		{"urls.strip_params", "&=#", "utm_source or utm_*", s.URLs.StripParams},
		{"urls.strip_path_params", ";=/?#", "jsessionid", s.URLs.StripPathParams},
	} {
		if len(list.names) > maxStripNames {
			return bad(list.field, "has %d names; at most %d", len(list.names), maxStripNames)
		}
		for i, name := range list.names {
			if err := checkParamName(name, list.separators, list.example); err != nil {
				return bad(fmt.Sprintf("%s[%d]", list.field, i), "%v", err)
			}
		}
	}
	return nil
}

// checkParamName says what is wrong with a parameter's name that may have a
// wildcard at either end.
func checkParamName(name, separators, example string) error {
	inner := strings.TrimPrefix(strings.TrimSuffix(name, "*"), "*")
	switch {
	case name == "":
		return fmt.Errorf("is empty: give the name of a parameter, such as %s", example)
	case len(name) > maxStripName:
		return fmt.Errorf("%.40q… has more than %d bytes", name, maxStripName)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7F }):
		return fmt.Errorf("%q has white space, which no parameter's name has", name)
	case strings.ContainsAny(name, separators):
		return fmt.Errorf("%q has one of %s, which end a name: give only the name, such as %s", name, separators, example)
	case strings.Contains(inner, "*"):
		return fmt.Errorf("%q: a * may stand at the start and at the end only", name)
	}
	return nil
}
