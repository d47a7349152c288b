package change

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// nearDefault is content.near_duplicate of a new crawl, which package crawl has.
const nearDefault = 0.75

// versioned is a page with a text in which only versions of it and copies have much part.
type versioned struct {
	name string // the same for all versions of a page
	text string
}

// vocabulary holds the words of the generated pages.
const vocabulary = 3000

// prose is a sentence of n random words.
func prose(random *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		// Some words are far more frequent than others, as in any language.
		words[i] = fmt.Sprintf("w%d", int(float64(vocabulary)*random.Float64()*random.Float64()))
	}
	return strings.Join(words, " ") + ".\n"
}

// javadoc is the reference of a library in two releases: many small classes, whose pages
// say much that all such pages say. Of the methods a twentieth are other ones.
func javadoc(random *rand.Rand, classes int) []versioned {
	var pages []versioned
	for c := range classes {
		name := fmt.Sprintf("Class%d", c)
		members := make([][2]string, 3+random.IntN(15))
		for m := range members {
			members[m][0] = method(random, name)
			members[m][1] = members[m][0]
			if random.IntN(20) == 0 {
				members[m][1] = method(random, name)
			}
		}
		about := prose(random, 10+random.IntN(30))
		for release := range 2 {
			var b strings.Builder
			fmt.Fprintf(&b, "library %d.%d API\nPackage org.library.part%d\n%s\nAll Implemented Interfaces: java.io.Serializable\n%s", release+2, release, c%20, name, about)
			b.WriteString("Constructor Summary\nConstructors\nConstructor and Description\nMethod Summary\nAll Methods Instance Methods Concrete Methods\nModifier and Type\nMethod and Description\n")
			for _, m := range members {
				b.WriteString(m[release])
			}
			b.WriteString("Methods inherited from class java.lang.Object clone, equals, finalize, getClass, hashCode, notify, notifyAll, toString, wait, wait, wait\n")
			fmt.Fprintf(&b, "Since release 1 of the library. See also the serialized form of the class and the overview of the package.\n")
			pages = append(pages, versioned{name, b.String()})
		}
	}
	return pages
}

func method(random *rand.Rand, class string) string {
	return fmt.Sprintf("public void m%d(%s a) throws java.io.IOException Description copied from interface %s", random.IntN(vocabulary), class, prose(random, 5+random.IntN(15)))
}

// template is a shop: a third or half of each page's text is about its own article.
func template(random *rand.Rand, pages int) []versioned {
	terms := prose(random, 90)
	var all []versioned
	for i := range pages {
		all = append(all, versioned{fmt.Sprint(i), fmt.Sprintf("Article %d\n%sPrice %d euro\n%s", i, prose(random, 40+random.IntN(60)), random.IntN(500), terms)})
	}
	return all
}

// mirrors are articles on two hosts, each host with a different header and footer.
func mirrors(random *rand.Rand, pages int) []versioned {
	header := []string{prose(random, 12), prose(random, 12)}
	footer := []string{prose(random, 15), prose(random, 15)}
	var all []versioned
	for i := range pages {
		text := prose(random, 250+random.IntN(500))
		for host := range 2 {
			all = append(all, versioned{fmt.Sprint(i), header[host] + text + footer[host]})
		}
	}
	return all
}

// nearScore is how a threshold does on a family of pages.
type nearScore struct {
	pairs, found, wrong int // pairs that are versions, of these found, and others found
	byIndex             int // of those that are found, the ones that an index leads to
}

// measured looks for each page's versions by comparing all, and by an index.
func measured(pages []versioned, threshold float64) nearScore {
	const depth, limit = 64, 32 // as the store has it
	contents := make([]Content, len(pages))
	index := map[uint64][]int64{}
	for i, p := range pages {
		contents[i] = Content{Sketch: NewSketch(p.text)}
		for _, k := range contents[i].Keys() {
			index[k] = append(index[k], int64(i))
		}
	}
	var s nearScore
	for i, p := range pages {
		var sharing [][]int64
		for _, k := range contents[i].Keys() {
			others := slices.DeleteFunc(slices.Clone(index[k]), func(other int64) bool { return other == int64(i) })
			sharing = append(sharing, others[:min(depth, len(others))])
		}
		likely := Likely(sharing, limit)
		for j := range i {
			same := p.name == pages[j].name
			if same {
				s.pairs++
			}
			if contents[i].Sketch.Resemblance(contents[j].Sketch) < threshold {
				continue
			}
			if !same {
				s.wrong++
				continue
			}
			s.found++
			if slices.Contains(likely, int64(j)) {
				s.byIndex++
			}
		}
	}
	return s
}

// TestNearDuplicates: at the default threshold versions of a page are found, by comparing
// all and by the index, and pages of one template are not taken for each other.
func TestNearDuplicates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		pages          []versioned
		recall, byKeys float64
	}{
		{"javadoc of two releases", javadoc(rand.New(rand.NewPCG(1, 17)), 400), 0.9, 0.99},
		{"pages of one template", template(rand.New(rand.NewPCG(2, 17)), 400), 1, 1},
		{"mirrors with other headers", mirrors(rand.New(rand.NewPCG(3, 17)), 200), 0.9, 0.99},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, threshold := range []float64{0.5, 0.6, 0.7, nearDefault, 0.8, 0.9, 0.98} {
				s := measured(c.pages, threshold)
				t.Logf("%.2f: %d of %d versions found, %d of them by the index, %d other pages", threshold, s.found, s.pairs, s.byIndex, s.wrong)
				if threshold != nearDefault {
					continue
				}
				if float64(s.found) < c.recall*float64(s.pairs) || float64(s.byIndex) < c.byKeys*float64(s.found) || s.wrong > s.found/100 {
					t.Errorf("at %.2f: %+v", threshold, s)
				}
			}
		})
	}
}
