package tsvector

import (
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"recrawl/internal/search"
)

// mostCounted is how often a word counts on a page: of the times it comes, the nth is worth
// 1/n² to ts_rank, so that all further ones are worth less than the sixteenth part of the first.
const mostCounted = 16

// times is how often a word comes, by where it stands.
type times struct{ title, headings, text int }

// vectorOf is what the words of a document are in a tsvector, with the weights A of the title, B
// of headings and D of the text. Its positions are no places in the text: they only number the
// times that a word comes. A word that comes once, in the text, has none: that is how ts_rank
// takes it anyway, and most words of a page are such. Keys have no weight.
func vectorOf(w search.Words, keys []string) pgtype.TSVector {
	all := map[string]times{}
	for _, word := range w.Title {
		t := all[word]
		t.title++
		all[word] = t
	}
	for _, word := range w.Headings {
		t := all[word]
		t.headings++
		all[word] = t
	}
	for _, word := range w.Text {
		t := all[word]
		t.text++
		all[word] = t
	}
	for _, key := range keys {
		all[key] = times{text: 1}
	}
	vector := pgtype.TSVector{Valid: true, Lexemes: make([]pgtype.TSVectorLexeme, 0, len(all))}
	for _, word := range slices.Sorted(maps.Keys(all)) { // in the server's order, which would sort them itself
		vector.Lexemes = append(vector.Lexemes, pgtype.TSVectorLexeme{Word: word, Positions: all[word].positions()})
	}
	return vector
}

// positions number the times that a word comes, those of most weight first.
func (t times) positions() []pgtype.TSVectorPosition {
	if t == (times{text: 1}) {
		return nil
	}
	positions := make([]pgtype.TSVectorPosition, min(t.title+t.headings+t.text, mostCounted))
	for i := range positions {
		weight := pgtype.TSVectorWeightD
		switch {
		case i < t.title:
			weight = pgtype.TSVectorWeightA
		case i < t.title+t.headings:
			weight = pgtype.TSVectorWeightB
		}
		positions[i] = pgtype.TSVectorPosition{Position: uint16(i + 1), Weight: weight}
	}
	return positions
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
