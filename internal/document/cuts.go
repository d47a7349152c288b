package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stride is the number of characters that stay together in a text without any other place
// to cut.
const stride = 200

// cuts returns the places at which a line may be cut at a level, in ascending order. They
// are never in code, and in a link only if that is longer than a chunk.
func cuts(text string, level int) (places []int) {
	kept := keptTogether(text)
	characters := 0
	for i := 0; i < len(text); {
		if len(kept) > 0 && i >= kept[0].from {
			characters += utf8.RuneCountInString(text[i:kept[0].to])
			i, kept = kept[0].to, kept[1:]
		} else {
			_, size := utf8.DecodeRuneInString(text[i:])
			if text[i] == '\\' && i+1 < len(text) { // an escape
				_, next := utf8.DecodeRuneInString(text[i+1:])
				size += next
			}
			i += size
			characters++
		}
		if i >= len(text) {
			break
		}
		if level == byCharacter {
			if characters >= stride || len(kept) > 0 && i >= kept[0].from {
				places, characters = append(places, i), 0
			}
		} else if ends(text, i, level) {
			places = append(places, i)
		}
	}
	return places
}

// ends reports whether a sentence or a word ends at a place in a text, with the spaces behind
// it.
func ends(text string, at, level int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	if level == bySentence && strings.ContainsRune("。！？｡", before) {
		return !unicode.IsPunct(after)
	}
	if before != ' ' || after == ' ' {
		return false
	}
	if level == byWord {
		return true
	}
	last := strings.TrimRight(text[max(0, at-12):at], ` "')]*_”’»`)
	return last != "" && strings.ContainsRune(".!?…:;", rune(last[len(last)-1])) || strings.HasSuffix(last, "…")
}

// keptTogether returns the parts of a line that are not cut: code, and links and pictures
// that fit into a chunk. It is linear.
func keptTogether(text string) (kept []span) {
	runs := runsOfBackticks(text)
	var brackets []int
	closing := -1 // the first ) at or after the place that was asked for last
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			n := runOf(text[i:], '`')
			if to := runs.after(i, n); to > 0 {
				kept = append(kept, span{i, to})
				i = to - 1
			} else {
				i += n - 1
			}
		case '[':
			brackets = append(brackets, i)
		case ']':
			if len(brackets) == 0 {
				continue
			}
			from := brackets[len(brackets)-1]
			brackets = brackets[:len(brackets)-1]
			if i+1 >= len(text) || text[i+1] != '(' {
				continue
			}
			if closing < i {
				if n := strings.IndexByte(text[i:], ')'); n >= 0 {
					closing = i + n
				} else {
					closing = len(text)
				}
			}
			if closing < len(text) && closing-from < MaxChunk {
				for len(kept) > 0 && kept[len(kept)-1].from >= from {
					kept = kept[:len(kept)-1]
				}
				kept = append(kept, span{from, closing + 1})
				i = closing
			}
		}
	}
	return kept
}

// backticks holds the places of runs of backticks, by their lengths.
type backticks map[int][]int

func runsOfBackticks(text string) backticks {
	runs := backticks{}
	for i := 0; i < len(text); {
		n := runOf(text[i:], '`')
		if n > 0 {
			runs[n] = append(runs[n], i)
		}
		i += max(n, 1)
	}
	return runs
}

// after returns where the code ends that a run of n backticks at a place begins, 0 if it
// begins none. Places are asked for in ascending order.
func (b backticks) after(place, n int) int {
	runs := b[n]
	for len(runs) > 0 && runs[0] <= place {
		runs = runs[1:]
	}
	b[n] = runs
	if len(runs) == 0 {
		return 0
	}
	return runs[0] + n
}
