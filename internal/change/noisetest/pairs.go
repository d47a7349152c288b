// Package noisetest makes pairs of renderings of one page, for measuring how
// often a difference that is no change is taken for one (a false change), and how
// often a small true edit is missed (a missed change).
//
// The pages are generated: twenty templates of several kinds of pages, written
// after the markup of common systems, in several languages and sizes, with the
// parts of a page in various markups. Half of the templates, markups and wordings
// are held out: the rules of packages extract and change were not tuned on them.
package noisetest

import (
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

// Kind is the kind of difference between the two renderings.
type Kind string

// Noise: nothing that a reader would call a change.
const (
	Ad         Kind = "ad"         // other adverts
	Timestamp  Kind = "timestamp"  // clocks, "updated 3 minutes ago", time of making
	Counter    Kind = "counter"    // views, shares, comments
	Session    Kind = "session"    // tokens in forms, links and scripts
	Navigation Kind = "navigation" // menus, breadcrumbs
	Related    Kind = "related"    // related and popular links
	AllNoise   Kind = "all noise"  // all of them at once
)

// Edits: true, but small.
const (
	Number   Kind = "number"   // a digit of a price or version in the text
	Date     Kind = "date"     // a date in the text
	Sentence Kind = "sentence" // one more, less or another
	Word     Kind = "word"     // another one
	Cell     Kind = "cell"     // of a table
	Item     Kind = "item"     // of a list: one more, less or another
)

// Noises and Edits list the kinds.
var (
	Noises = []Kind{Ad, Timestamp, Counter, Session, Navigation, Related, AllNoise}
	Edits  = []Kind{Number, Date, Sentence, Word, Cell, Item}
)

// The edits that a template's page can show.
var (
	words   = []Kind{Number, Date, Sentence, Word}
	textual = []Kind{Number, Date, Sentence, Word, Item}
	all     = Edits
)

// template is one kind of page.
type template struct {
	name  string
	edits []Kind
	tiny  bool // has one paragraph only
	write func(*draft)
}

// sizes are the numbers of paragraphs that pages have.
var sizes = []int{1, 2, 4, 8, 16, 60}

// Pair is two renderings of one page.
type Pair struct {
	Template, Language string
	Kind               Kind
	Prev, Next         Rendering
}

// Rendering is one of them.
type Rendering struct {
	HTML []byte
	At   time.Time // when it was made
}

// Pairs makes n pairs of each kind for each of the tuning or held-out templates
// that can show it; the seed decides everything.
func Pairs(heldOutOnes bool, n int, seed uint64) iter.Seq[Pair] {
	templates, spoken := tuning, languages
	if heldOutOnes {
		templates, spoken = heldOut, slices.Concat(languages, heldOutLanguages)
	}
	return func(yield func(Pair) bool) {
		for i, t := range templates {
			for _, kind := range slices.Concat(Noises, t.edits) {
				if t.tiny && kind == Related {
					continue // it has none
				}
				for k := range n {
					rng := rand.New(rand.NewPCG(seed, uint64(i)<<32|uint64(k)))
					if !yield(t.pair(&spoken[rng.IntN(len(spoken))], kind, heldOutOnes, rng)) {
						return
					}
				}
			}
		}
	}
}

func (t template) pair(l *language, kind Kind, heldOut bool, rng *rand.Rand) Pair {
	size := sizes[rng.IntN(len(sizes))]
	if t.tiny {
		size = 1
	}
	style := rng.Uint64()
	prev := newContent(l, rng, size)
	next := prev.clone()
	next.disturb(kind)
	next.edit(kind)
	return Pair{
		Template: t.name, Language: l.code, Kind: kind,
		Prev: t.render(prev, style, heldOut), Next: t.render(next, style, heldOut),
	}
}

func (t template) render(c *content, style uint64, heldOut bool) Rendering {
	d := newDraft(c, style, heldOut)
	t.write(d)
	return Rendering{HTML: []byte(d.String()), At: c.now}
}

// IsEdit reports whether a kind is a true edit.
func (k Kind) IsEdit() bool { return slices.Contains(Edits, k) }
