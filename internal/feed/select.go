package feed

import (
	"fmt"
	"slices"
	"strings"
)

// SelectKinds returns the kinds that patterns name, in their order: a name such as
// page.new, or the beginning of names with a * at the end, such as page.* or *.
func SelectKinds(patterns []string) ([]Kind, error) {
	var selected []Kind
	for _, p := range patterns {
		begin, all := strings.CutSuffix(p, "*")
		found := false
		for _, k := range Kinds() {
			if name := k.String(); name == p || all && strings.HasPrefix(name, begin) {
				found = true
				selected = append(selected, k)
			}
		}
		if !found {
			return nil, fmt.Errorf("%.80q is no kind of change: use %s, or page.* for all of pages", p, kindNames())
		}
	}
	slices.Sort(selected)
	return slices.Compact(selected), nil
}

func kindNames() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}
