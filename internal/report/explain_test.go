package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// A page is explained by the settings that it is planned by: those of a rule, if one matches.
func TestExplainNamesTheRule(t *testing.T) {
	t.Parallel()
	page := sample().pages[0]
	rule := crawl.RevisitRule{Prefix: page.URL, Policy: "fixed", DefaultInterval: crawl.Duration(2 * time.Hour)}
	for name, c := range map[string]struct {
		rules        []crawl.RevisitRule
		policy, text string
	}{
		"no rule matches": {[]crawl.RevisitRule{{Host: "elsewhere.test", Policy: "fixed"}}, "sqrt", "sqrt, 1d by default, 1h to 120d, budget 900/h\n"},
		"a rule":          {[]crawl.RevisitRule{rule}, "fixed", "fixed, 2h by default, 1h to 120d, by the rule for " + page.URL + "\n"},
		"only a weight":   {[]crawl.RevisitRule{{Prefix: page.URL, Weight: 3}, rule}, "sqrt", "sqrt, 1d by default, 1h to 120d, budget 900/h, by the rule for " + page.URL + "\n"},
	} {
		f := sample()
		for i := range f.crawls {
			f.crawls[i].Spec.Revisit.Budget, f.crawls[i].Spec.Revisit.Rules = "900/h", c.rules
		}
		var text, line bytes.Buffer
		if err := (Reporter{Store: f, Out: &text, Format: Text}).Explain(t.Context(), page, Live{}); err != nil {
			t.Fatal(err)
		}
		if err := (Reporter{Store: f, Out: &line, Format: JSON}).Explain(t.Context(), page, Live{}); err != nil {
			t.Fatal(err)
		}
		var got struct{ Policy string }
		if err := json.Unmarshal(line.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Policy != c.policy || !strings.Contains(text.String(), "  "+c.text) {
			t.Errorf("%s: policy %s, want %s and %q in\n%s", name, got.Policy, c.policy, c.text, text.String())
		}
	}
}

// Of a page without a place, `explain` says what it waits for.
func TestExplainOfAKnownPage(t *testing.T) {
	t.Parallel()
	page := sample().pages[0]
	page.State, page.Visits = crawl.Known, 0
	page.URL, page.Host, page.HostID = "https://quiet.test/", "quiet.test", 99
	var text bytes.Buffer
	if err := (Reporter{Store: sample(), Out: &text, Format: Text}).Explain(t.Context(), page, Live{}); err != nil {
		t.Fatal(err)
	}
	if want := "none: the collection has no place for it yet"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
}
