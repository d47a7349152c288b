// Package reserve reads the statements of sites about uses of their pages:
// Content-Signal and Content-Usage, in robots.txt and in headers, the TDM
// Reservation Protocol, and the directives noai and noimageai.
//
// None of it binds more than it names, and sites keep no grammar. So each statement is read
// as its author means it, an unreadable one says nothing, and of statements that disagree
// the one that refuses counts. Silence neither allows nor refuses.
package reserve

import (
	"slices"
	"strings"

	"recrawl/internal/crawl"
)

// CodeReserved is the code of the reason of a visit in which a page itself, in a header or
// an element, reserves a use from the crawl's purpose. Its text is Refusal. It is stored.
const CodeReserved = "reserved"

// maxText bounds the quotation of a statement, in bytes.
const maxText = 200

// label is the meaning of a word in a statement.
type label struct {
	uses []crawl.Use
	// general: a more specific label in the same statement comes before it.
	general bool
	// partly: it names only a part of the uses, so its permission does not cover them all.
	partly bool
}

// labels are the words of Content-Signal, and those of Content-Usage in the drafts of its
// vocabulary so far. A word of either is read in both.
var labels = map[string]label{
	"search":      {uses: []crawl.Use{crawl.UseSearch}},
	"ai-input":    {uses: []crawl.Use{crawl.UseAIInput}},
	"ai-train":    {uses: []crawl.Use{crawl.UseAITrain}},
	"train-ai":    {uses: []crawl.Use{crawl.UseAITrain}},
	"train-genai": {uses: []crawl.Use{crawl.UseAITrain}, partly: true},
	"genai":       {uses: []crawl.Use{crawl.UseAITrain}, partly: true},
	"ai":          {uses: []crawl.Use{crawl.UseAITrain}, general: true},
	"archive":     {uses: []crawl.Use{crawl.UseArchive}},
	"tdm":         {uses: []crawl.Use{crawl.UseAIInput, crawl.UseAITrain}, general: true},
	"bots":        {uses: crawl.Uses(), general: true},
}

// Usage reads the value of a Content-Signal or Content-Usage ("search=yes, ai-train=no"),
// which source names in front of it. It takes time in proportion to the value.
func Usage(source, value string) []crawl.Reservation {
	source = Quote(source + value)
	specific, general := map[crawl.Use]bool{}, map[crawl.Use]bool{}
	for _, item := range items(value) {
		word, answer, _ := strings.Cut(item, "=")
		known, ok := labels[strings.ToLower(word)]
		allowed, says := answers[strings.ToLower(answer)]
		if !ok || !says || allowed && known.partly {
			continue
		}
		into := specific
		if known.general {
			into = general
		}
		for _, use := range known.uses {
			before, again := into[use]
			into[use] = allowed && (before || !again)
		}
	}
	var said []crawl.Reservation
	for _, use := range crawl.Uses() {
		allowed, ok := specific[use]
		if !ok {
			allowed, ok = general[use]
		}
		if ok {
			said = append(said, crawl.Reservation{Use: use, Allowed: allowed, Source: source})
		}
	}
	return said
}

// answers are the values of labels.
var answers = map[string]bool{"y": true, "yes": true, "n": false, "no": false}

// items returns the assignments of a list ("search=yes"), whatever separates them. Quotes
// and spaces around an equals sign are no part of them.
func items(value string) []string {
	var b strings.Builder
	glue := true // no space is needed before the next item
	for _, word := range strings.FieldsFunc(strings.ReplaceAll(value, "=", " = "), separates) {
		if !glue && word != "=" {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		glue = word == "="
	}
	return strings.Fields(b.String())
}

func separates(r rune) bool { return strings.ContainsRune(" \t,;\"'", r) }

// TDM reads a tdm-reservation, "1" or "0", which source names in front of it. policy, the
// address of the terms, is quoted.
func TDM(source, value, policy string) []crawl.Reservation {
	value = strings.Trim(value, " \t\"'")
	if value != "0" && value != "1" {
		return nil
	}
	text := source + value
	if policy = strings.TrimSpace(policy); policy != "" {
		text += ", tdm-policy " + policy
	}
	return both(value == "0", text)
}

// NoAI is the statement of the directive noai, and for an image noimageai. source is the
// directive with its place.
func NoAI(source string) []crawl.Reservation { return both(false, source) }

// both is a statement about everything that models are given.
func both(allowed bool, source string) []crawl.Reservation {
	source = Quote(source)
	return []crawl.Reservation{
		{Use: crawl.UseAIInput, Allowed: allowed, Source: source},
		{Use: crawl.UseAITrain, Allowed: allowed, Source: source},
	}
}

// Quote shortens a site's statement, and makes it fit for a line of text.
func Quote(text string) string { return strings.TrimSpace(crawl.Clean(text, maxText)) }

// Join combines statements, with at most one reservation of each use, in the order of
// crawl.Uses: the first that refuses, else the first that allows.
func Join(statements ...[]crawl.Reservation) []crawl.Reservation {
	var joined []crawl.Reservation
	for _, use := range crawl.Uses() {
		var is *crawl.Reservation
		for _, said := range statements {
			for _, r := range said {
				if r.Use == use && (is == nil || is.Allowed && !r.Allowed) {
					is = &r
				}
			}
		}
		if is != nil {
			joined = append(joined, *is)
		}
	}
	return joined
}

// Against returns the first reservation that refuses one of the uses in a crawl's
// purpose.
func Against(reserved []crawl.Reservation, purpose []crawl.Use) (crawl.Reservation, bool) {
	for _, r := range reserved {
		if !r.Allowed && slices.Contains(purpose, r.Use) {
			return r, true
		}
	}
	return crawl.Reservation{}, false
}

// Refusal says in plain words why a reservation keeps a page out of a crawl.
func Refusal(r crawl.Reservation) string {
	return `the site reserves ` + string(r.Use) + `, which the crawl is for: "` + r.Source + `"`
}

// Words words a site's statements about uses plainly, "" if there are none.
func Words(reserved []crawl.Reservation) string {
	said := make([]string, len(reserved))
	for i, r := range reserved {
		verb := "refuses "
		if r.Allowed {
			verb = "allows "
		}
		said[i] = verb + string(r.Use) + ` ("` + r.Source + `")`
	}
	return strings.Join(said, ", ")
}
