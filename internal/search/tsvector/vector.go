package tsvector

import (
	"strconv"
	"strings"

	"recrawl/internal/search"
)

// Limits of a tsvector: later positions are taken for the last one, and of a word only so
// many count.
const (
	lastPosition  = 16383
	mostPositions = 255
)

// vectorOf writes the words of a document as a tsvector, with the weights A of the title, B
// of headings and D of the text.
func vectorOf(w search.Words) string {
	type places struct {
		text  strings.Builder
		count int
	}
	var order []string
	all := map[string]*places{}
	position := 0
	add := func(words []string, weight string) {
		for _, word := range words {
			position = min(position+1, lastPosition)
			p := all[word]
			if p == nil {
				p = &places{}
				all[word] = p
				order = append(order, word)
			}
			if p.count++; p.count > mostPositions {
				continue
			}
			if p.count > 1 {
				p.text.WriteByte(',')
			}
			p.text.WriteString(strconv.Itoa(position))
			p.text.WriteString(weight)
		}
	}
	add(w.Title, "A")
	add(w.Headings, "B")
	add(w.Text, "")
	var vector strings.Builder
	for _, word := range order {
		vector.WriteString(quoted(word))
		vector.WriteByte(':')
		vector.WriteString(all[word].text.String())
		vector.WriteByte(' ')
	}
	return vector.String()
}

// queryOf writes terms as a tsquery.
func queryOf(terms []search.Term, between string) string {
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = quoted(t.Word)
		if t.Prefix {
			texts[i] += ":*"
		}
	}
	return strings.Join(texts, between)
}

// quoted writes a text so that no character of it means anything.
func quoted(text string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(text) + "'"
}
