package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Axe is axe-core, which finds what keeps people from using a page.
type Axe struct{ source string }

// LoadAxe reads axe.min.js; `make axe` installs it.
func LoadAxe(path string) (Axe, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return Axe{}, fmt.Errorf("axe-core is not installed; make axe does: %w", err)
	}
	return Axe{string(source)}, nil
}

// Violation is a rule that a page breaks.
type Violation struct {
	Rule   string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML   string `json:"html"`
		Reason string `json:"failureSummary"`
	} `json:"nodes"`
}

func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s), %d times:", v.Impact, v.Help, v.Rule, len(v.Nodes))
	for i, n := range v.Nodes {
		if i == 3 {
			b.WriteString("\n    …")
			break
		}
		fmt.Fprintf(&b, "\n    %.200s\n      %s", n.HTML, strings.ReplaceAll(n.Reason, "\n", "\n      "))
	}
	return b.String()
}

// wcag are the tags of the rules that follow from WCAG 2.2, levels A and AA, and of those that
// axe-core's authors call best practice.
var wcag = []string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"}

// Check judges the page of a tab as it is shown: by all rules, or only by the named ones.
func (a Axe) Check(tab *Tab, rules ...string) []Violation {
	tab.t.Helper()
	if len(rules) == 0 {
		return a.CheckBut(tab)
	}
	return a.run(tab, map[string]any{"runOnly": map[string]any{"type": "rule", "values": rules}})
}

// CheckBut judges the page of a tab as it is shown by all rules but the named ones.
func (a Axe) CheckBut(tab *Tab, rules ...string) []Violation {
	tab.t.Helper()
	off := map[string]any{}
	for _, rule := range rules {
		off[rule] = map[string]any{"enabled": false}
	}
	return a.run(tab, map[string]any{"runOnly": map[string]any{"type": "tag", "values": wcag}, "rules": off})
}

func (a Axe) run(tab *Tab, options map[string]any) []Violation {
	tab.t.Helper()
	options["resultTypes"] = []string{"violations"}
	asked, err := json.Marshal(options)
	if err != nil {
		tab.t.Fatal(err)
	}
	var loaded bool
	if tab.Eval("typeof axe === 'object'", &loaded); !loaded {
		tab.Eval(a.source+"\n;null", nil)
	}
	var found []Violation
	tab.Eval("axe.run(document, "+string(asked)+").then(r => r.violations)", &found)
	return found
}
