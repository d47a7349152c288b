package robots

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/urlkey"
)

// matchesSlowly reports whether a pattern matches a path by the definition: a table
// of which beginnings of the one match which beginnings of the other.
func matchesSlowly(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	if !anchored {
		pattern += "*"
	}
	matched := make([]bool, len(path)+1) // path[:i] matches the pattern so far
	matched[0] = true
	for _, c := range []byte(pattern) {
		next := make([]bool, len(path)+1)
		for i := range next {
			if c == '*' {
				next[i] = matched[i] || i > 0 && next[i-1]
			} else {
				next[i] = i > 0 && matched[i-1] && path[i-1] == c
			}
		}
		matched = next
	}
	return matched[len(path)]
}

// decidedSlowly is the deciding line, found by trying each rule of the groups
// alone; 0 if none matches.
func decidedSlowly(f *File, agent string, u urlkey.URL) int {
	var best *rule
	t := newTarget(u.Target())
	for _, g := range f.groupsFor(agent) {
		for _, r := range g.rules {
			pattern := normalise(r.value, isPattern)
			if !matchesSlowly(pattern, t.strict) && !matchesSlowly(decodeReserved(pattern), t.loose) {
				continue
			}
			if best == nil || r.octets > best.octets || r.octets == best.octets && (r.allow && !best.allow || r.allow == best.allow && r.line < best.line) {
				best = r
			}
		}
	}
	if best == nil {
		return 0
	}
	return best.line
}

// TestMatch: one rule, one statement and the definition, for all short patterns and paths.
func TestMatch(t *testing.T) {
	t.Parallel()
	paths := slices.Collect(allTexts("ab", 5))
	for pattern := range allTexts("ab*", 6) {
		for _, end := range []string{"", "$"} {
			p := parser{file: &File{}, current: &group{}}
			p.file.groups = []*group{p.current}
			p.current.rules = []*rule{p.newRule(false, pattern+end, 1)}
			f := p.finish()
			for _, path := range paths {
				best, _ := f.decisive([]membership{{group: p.current}}, target{path, path})
				want := matchesSlowly(pattern+end, path)
				if got := best != nil; got != want {
					t.Fatalf("%q on %q: %v, want %v", pattern+end, path, got, want)
				}
				if got := matchesPath(pattern+end, path); got != want {
					t.Fatalf("a statement for %q on %q: %v, want %v", pattern+end, path, got, want)
				}
			}
		}
	}
}

// allTexts yields all texts of some letters up to a length.
func allTexts(letters string, length int) iter.Seq[string] {
	return func(yield func(string) bool) {
		texts := []string{""}
		for range length + 1 {
			var longer []string
			for _, text := range texts {
				if !yield(text) {
					return
				}
				for _, c := range letters {
					longer = append(longer, text+string(c))
				}
			}
			texts = longer
		}
	}
}

// manyRules draws files whose pieces are prefixes of each other, overlap and recur.
func manyRules(letters string) *rapid.Generator[string] {
	piece := rapid.StringMatching(`[` + letters + `]{0,3}|a{1,9}|(ab){1,4}|%(3A|2F|3a|41)|[:@?/]`)
	line := rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces")
		text := rapid.SampledFrom([]string{"Allow: ", "Disallow: "}).Draw(t, "key") + rapid.SampledFrom([]string{"/", "*", "/a"}).Draw(t, "first")
		return text + strings.Join(pieces, "*") + rapid.SampledFrom([]string{"", "", "$", "*", "*$"}).Draw(t, "end")
	})
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(line, 1, 20).Draw(t, "lines")
		for range rapid.IntRange(0, 2).Draw(t, "groups") {
			agent := rapid.SampledFrom([]string{"User-agent: *", "User-agent: other", "User-agent: recrawl"}).Draw(t, "agent")
			lines = slices.Insert(lines, rapid.IntRange(0, len(lines)).Draw(t, "at"), agent)
		}
		return "User-agent: recrawl\n" + strings.Join(lines, "\n")
	})
}

// TestSearch: many rules together decide as each would alone.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, letters := range []string{"ab", "abc", "abcdefgh/", "a"} {
		t.Run(letters, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				text := manyRules(letters).Draw(t, "text")
				path := rapid.StringMatching(`/([` + letters + `]{0,4}|a{1,30}|(ab){1,9}|%(3A|2F|41)|[:@?/]){0,12}`)
				for _, path := range rapid.SliceOfN(path, 4, 8).Draw(t, "paths") {
					checkSearch(t, text, path)
				}
			})
		})
	}
}

func checkSearch(t interface {
	Helper()
	Errorf(string, ...any)
}, text, path string,
) {
	t.Helper()
	u, err := urlkey.Canonical("http://h" + path)
	if err != nil || u.Path() == "/robots.txt" {
		return
	}
	f := Parse([]byte(text))
	groups := f.groupsFor("recrawl")
	if len(groups) == 0 {
		return
	}
	if got, want := f.Check("recrawl", u).Line, decidedSlowly(f, "recrawl", u); got != want {
		t.Errorf("line %d decides instead of %d on %q in\n%s", got, want, path, text)
	}
	target := newTarget(u.Target())
	if _, steps := f.decisive(groups, target); steps > maxSteps(f, groups, target.strict) {
		t.Errorf("%d steps instead of %d on %q in\n%s", steps, maxSteps(f, groups, target.strict), path, text)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("User-agent: *\nAllow: /*a*aa*aaa$\nDisallow: *aa*a*\nDisallow: /*?*:", "/aaaaaa?%3A")
	f.Add("user-agent:recrawl\nallow:*%2F*/*$\ndisallow:*a*b*ab*abc*$\nallow:/*abc*ab$", "/a%2Fbabcab")
	f.Add("User-agent: *\nDisallow: *$\nAllow: *a$*\nAllow:***", "/$*")
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 5000 || len(path) > 500 {
			return // the definition is slow
		}
		checkSearch(t, text, "/"+path)
	})
}

// TestPieces: the paths of a forest hold each piece once, from short to long, and
// lead from each piece over few of them to all pieces with which it begins.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		distinct := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{1,7}|a{1,30}b?`), 1, 80, rapid.ID[string]).Draw(t, "distinct")
		p, slots := newPieces(distinct)
		bySlot := make([]string, len(distinct))
		for i, piece := range distinct {
			bySlot[slots[i]] = piece
			if p.size[slots[i]] != int32(len(piece)) {
				t.Fatalf("%q has size %d", piece, p.size[slots[i]])
			}
		}
		for i, piece := range distinct {
			var got, want []string
			paths := 0
			for slot := slots[i]; slot >= 0; slot = p.above[p.top[slot]] {
				paths++
				for ; slot > p.top[slot]; slot-- {
					got = append(got, bySlot[slot])
				}
				got = append(got, bySlot[slot])
			}
			for n := len(piece); n > 0; n-- {
				if slices.Contains(distinct, piece[:n]) {
					want = append(want, piece[:n])
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q leads to %q, want %q", piece, got, want)
			}
			if 1<<(paths-1) > len(distinct) {
				t.Fatalf("%q of %d pieces lies %d paths deep", piece, len(distinct), paths)
			}
		}
	})
}
