package reserve_test

import (
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/directive"
	"recrawl/internal/robots/reserve"
)

// short writes reservations without their sources: "search+ ai-train-".
func short(reserved []crawl.Reservation) string {
	var said []string
	for _, r := range reserved {
		sign := "-"
		if r.Allowed {
			sign = "+"
		}
		said = append(said, string(r.Use)+sign)
	}
	return strings.Join(said, " ")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		// Content signals, as their policy has them.
		"search=yes, ai-train=no":              "search+ ai-train-",
		"search=yes,ai-input=yes,ai-train=yes": "search+ ai-input+ ai-train+",
		"ai-input=no":                          "ai-input-",
		// The drafts of Content-Usage: tokens y and n, labels as they were named in turn.
		"train-ai=n":                 "ai-train-",
		"train-ai=y, search=n":       "search- ai-train+",
		"genai=n":                    "ai-train-",
		"train-genai=y":              "", // a permission of some training does not permit all
		"tdm=n, train-ai=y":          "ai-input- ai-train+",
		"bots=n":                     "search- ai-input- ai-train- archive-",
		"bots=n, search=y":           "search+ ai-input- ai-train- archive-",
		"search=y, bots=n":           "search+ ai-input- ai-train- archive-",
		"train-ai=n;weight=2":        "ai-train-",
		"train-ai=n, train-ai=y":     "ai-train-",
		"train-ai=y, ai-train=no":    "ai-train-",
		"ai-train=no, train-ai=y":    "ai-train-",
		"search=y, search=yes":       "search+",
		"train-ai=maybe, search=y":   "search+",
		"train-ai":                   "",
		"train-ai=?0, unknown=n, =n": "",
		"":                           "",
		// As people write it.
		"Search = Yes ; AI-Train = NO": "search+ ai-train-",
		`"search=yes" 'ai-train=no'`:   "search+ ai-train-",
		"search=yes ai-train=no":       "search+ ai-train-",
		"ai-train= no":                 "ai-train-",
		"ai-train==no":                 "",
	} {
		if got := short(reserve.Usage("x: ", value)); got != want {
			t.Errorf("%q says %q, want %q", value, got, want)
		}
	}
	said := reserve.Usage("robots.txt: Content-Signal: ", "search=yes, ai-train=no")
	if said[1].Source != "robots.txt: Content-Signal: search=yes, ai-train=no" {
		t.Errorf("source %q", said[1].Source)
	}
}

// A statement costs time in proportion to its length, and its source stays short.
func TestHostileUsage(t *testing.T) {
	t.Parallel()
	for _, value := range []string{strings.Repeat("=", 1<<20), strings.Repeat("ai-train=no,", 1<<17), strings.Repeat(" \t", 1<<19) + "\x00\u202e\n", strings.Repeat("a", 1<<20)} {
		for _, r := range reserve.Usage("x: ", value) {
			if len(r.Source) > 210 || strings.ContainsAny(r.Source, "\n\x00") {
				t.Errorf("source %q", r.Source)
			}
		}
	}
}

func TestTDM(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"1": "ai-input- ai-train-", "0": "ai-input+ ai-train+", " 1 ": "ai-input- ai-train-", `"1"`: "ai-input- ai-train-",
		"": "", "2": "", "true": "", "1, 0": "",
	} {
		if got := short(reserve.TDM("tdm-reservation: ", value, "")); got != want {
			t.Errorf("%q says %q, want %q", value, got, want)
		}
	}
	said := reserve.TDM("tdm-reservation: ", "1", " https://host.test/terms.json ")
	if said[0].Source != "tdm-reservation: 1, tdm-policy https://host.test/terms.json" {
		t.Errorf("source %q", said[0].Source)
	}
}

func TestFromHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		headers []reserve.Header
		tag     string
		image   bool
		want    string
	}{
		{"nothing", nil, "noindex", false, ""},
		{"signal", []reserve.Header{{"Content-Signal", "ai-train=yes, search=yes"}}, "", false, "search+ ai-train+"},
		{"usage", []reserve.Header{{"content-usage", "train-ai=n"}, {"Content-Usage", "search=y"}}, "", false, "search+ ai-train-"},
		{"two that disagree", []reserve.Header{{"Content-Signal", "ai-train=yes"}, {"TDM-Reservation", "1"}}, "", false, "ai-input- ai-train-"},
		{"and the other way round", []reserve.Header{{"TDM-Reservation", "1"}, {"Content-Signal", "ai-train=yes"}}, "", false, "ai-input- ai-train-"},
		{"policy alone", []reserve.Header{{"tdm-policy", "https://host.test/"}}, "", false, ""},
		{"noai", nil, "noai", false, "ai-input- ai-train-"},
		{"noai for others", nil, "otherbot: noai", false, ""},
		{"no-ai, spelled otherwise", nil, "index; No-AI", false, "ai-input- ai-train-"},
		{"noimageai on a page", nil, "noimageai", false, ""},
		{"noimageai on an image", nil, "noimageai", true, "ai-input- ai-train-"},
		{"noai lifts nothing", []reserve.Header{{"Content-Usage", "train-ai=y"}}, "noai", false, "ai-input- ai-train-"},
	} {
		tags := directive.ParseTags([]string{c.tag}, "recrawl")
		if got := short(reserve.FromHeaders(c.headers, tags, c.image)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, h := range c.headers {
			if !slices.ContainsFunc(reserve.Headers(), func(name string) bool { return strings.EqualFold(name, h.Name) }) {
				t.Errorf("%s is not read", h.Name)
			}
		}
	}
	policy := reserve.FromHeaders([]reserve.Header{{"tdm-reservation", "1"}, {"TDM-Policy", "https://host.test/p"}}, directive.Directives{}, false)
	if policy[0].Source != "tdm-reservation: 1, tdm-policy https://host.test/p" {
		t.Errorf("source %q", policy[0].Source)
	}
}

func TestFromElements(t *testing.T) {
	t.Parallel()
	robots := directive.Parse("noai, noimageai")
	if got := short(reserve.FromElements(robots, nil, "")); got != "ai-input- ai-train-" {
		t.Errorf("noai says %q", got)
	}
	if got := short(reserve.FromElements(directive.Directives{}, []string{"0", "1"}, "")); got != "ai-input- ai-train-" {
		t.Errorf("0 and 1 say %q", got)
	}
	if got := reserve.FromElements(directive.Directives{}, []string{"1"}, "https://host.test/p"); got[0].Source != "meta tdm-reservation: 1, tdm-policy https://host.test/p" {
		t.Errorf("source %q", got[0].Source)
	}
}

func TestForPictures(t *testing.T) {
	t.Parallel()
	none, both := directive.Directives{}, directive.Parse("noai, noimageai")
	for _, c := range []struct {
		name         string
		tags, robots directive.Directives
		source       string // "" is nothing
	}{
		{"nothing", none, none, ""},
		{"noai", directive.Parse("noai"), directive.Parse("noai"), ""},
		{"element", none, both, "meta robots: noimageai"},
		{"header", both, none, "X-Robots-Tag: noimageai"},
		{"header and element", both, both, "X-Robots-Tag: noimageai"},
	} {
		said := reserve.ForPictures(c.tags, c.robots)
		if c.source == "" {
			if len(said) != 0 {
				t.Errorf("%s: %+v", c.name, said)
			}
			continue
		}
		if short(said) != "ai-input- ai-train-" || said[0].Source != c.source {
			t.Errorf("%s: %+v", c.name, said)
		}
	}
}

func TestAgainst(t *testing.T) {
	t.Parallel()
	said := reserve.Usage("robots.txt: Content-Signal: ", "search=yes, ai-train=no")
	if r, refused := reserve.Against(said, []crawl.Use{crawl.UseSearch, crawl.UseAITrain}); !refused || r.Use != crawl.UseAITrain {
		t.Errorf("refused %t: %+v", refused, r)
	} else if got, want := reserve.Refusal(r), `the site reserves ai-train, which the crawl is for: "robots.txt: Content-Signal: search=yes, ai-train=no"`; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	for _, purpose := range [][]crawl.Use{nil, {crawl.UseSearch}, {crawl.UseAIInput, crawl.UseArchive}} {
		if r, refused := reserve.Against(said, purpose); refused {
			t.Errorf("for %v refused: %+v", purpose, r)
		}
	}
	if got, want := reserve.Words(said), `allows search ("robots.txt: Content-Signal: search=yes, ai-train=no"), refuses ai-train ("robots.txt: Content-Signal: search=yes, ai-train=no")`; got != want {
		t.Errorf("words %s, want %s", got, want)
	}
}
