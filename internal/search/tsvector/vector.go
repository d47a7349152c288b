package tsvector

import (
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"recrawl/internal/search"
)

// mostCounted bounds the occurrences of a word on a page that count: the nth is worth 1/n²
// to ts_rank, so all further ones together are worth less than a sixteenth of the first.
const mostCounted = 16

// times counts the occurrences of a word, by where it stands.
type times struct{ title, headings, text int }

// vectorOf makes the tsvector of a document's words, with the weights A for the title, B
// for headings and D for the text. Its positions are not places in the text: they only
// number the occurrences of a word. A word that occurs once, in the text, has none: ts_rank
// treats it the same, and most words of a page are like that. Keys have no weight.
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

// positions numbers the occurrences of a word, those of most weight first.
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

// quoted writes a text so that none of its characters has a special meaning.
func quoted(text string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(text) + "'"
}
