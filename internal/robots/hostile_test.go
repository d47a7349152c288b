package robots

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

// attack is a file of as many bytes as count, and a URL of the greatest length,
// that together cost much.
type attack struct{ name, text, path string }

// fill repeats lines until the file is full.
func fill(line func(i int) string) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; ; i++ {
		next := line(i)
		if b.Len()+len(next) >= MaxBytes {
			return b.String()
		}
		b.WriteString(next + "\n")
	}
}

// longest fills a path up to the longest URL of http://h.
func longest(path string) string {
	const room = 8<<10 - len("http://h/")
	return "/" + strings.Repeat(path, room/len(path)+1)[:room]
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// deBruijn has each pair of the first n letters once.
func deBruijn(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(letters[i])
		for j := i + 1; j < n; j++ {
			b.WriteString(letters[i:i+1] + letters[j:j+1])
		}
	}
	return b.String()
}

// words has each word of n letters "a" and "b" once (Martin's greedy sequence).
func words(n int) string {
	text, seen := strings.Repeat("a", n-1), map[string]bool{}
	for {
		word := text[len(text)-n+1:]
		switch {
		case !seen[word+"b"]:
			word += "b"
		case !seen[word+"a"]:
			word += "a"
		default:
			return text
		}
		seen[word] = true
		text += word[n-1:]
	}
}

// pair is the i-th pair of letters, so spread that neighbours differ.
func pair(i int) string {
	n := len(letters)
	i = i * 2909 % (n * n)
	return string([]byte{letters[i/n], letters[i%n]})
}

func attacks() []attack {
	all := deBruijn(len(letters))
	return []attack{
		{"2000 rules of 100 stars", "User-agent: *\n" + strings.Repeat("Disallow: "+strings.Repeat("*a", 100)+"|\n", 2000), longest("a")},
		{"1995 lines of *a, 118 times", fill(func(int) string { return "Disallow: " + strings.Repeat("*a", 118) + "*|" }), longest("a")},
		{"short rules", fill(func(i int) string { return "allow *" + pair(i) }), longest("!")},
		{"short rules that wait", fill(func(i int) string { return "allow *" + pair(i) + "*|" }), longest(all)},
		{"short rules of three", fill(func(i int) string { return "allow *" + pair(i) + string(letters[i%62]) + "*|" }), longest(all)},
		{"one star a line", fill(func(i int) string { return fmt.Sprintf("Disallow: /a%d*b%d", i, i) }), longest("a1")},
		{"pieces of one byte", fill(func(i int) string { return "allow *" + strings.Repeat("a*b*", 2000) + "|" }), longest("ab")},
		{"pieces of one byte, far apart", fill(func(i int) string {
			var b strings.Builder
			for j := range 30 {
				b.WriteString("*" + string(letters[(i+j*7)%62]))
			}
			return "allow " + b.String() + "*|"
		}), longest(all)},
		{"pieces of two bytes", fill(func(i int) string {
			var b strings.Builder
			for j := range 50 {
				b.WriteString("*" + pair(i*31+j*j))
			}
			return "allow " + b.String() + "*|"
		}), longest(all)},
		{"pieces of two bytes, in their order", fill(func(i int) string {
			var b strings.Builder
			for j := range 900 {
				at := (i + 4*j) % (len(all) - 2)
				b.WriteString("*" + all[at:at+2])
			}
			return "allow " + b.String() + "*|"
		}), longest(all)},
		{"each piece begins with the next", fill(func(i int) string { return "allow *" + strings.Repeat("a", 1000-i%1000) + "*|" }), longest("a")},
		{"prefixes, and all wait for the last", fill(func(i int) string { return "allow *b*" + strings.Repeat("a", 1000-i%1000) + "*|" }), longest("a")},
		{"prefixes that branch", fill(func(i int) string { return "allow *" + strings.Repeat("a", 700-i%700) + string("!ab"[i%3]) + "*|" }), longest("a")},
		{"prefixes of something else", fill(func(i int) string { return "allow *" + strings.Repeat("a", 1000-i%1000) + "*|" }), longest("ab")},
		{"prefixes and a run without end", fill(func(i int) string {
			if i == 0 {
				return "allow " + strings.Repeat("*a", 8000) + "*|"
			}
			return "allow *b*" + strings.Repeat("a", 970-i%970) + "*|"
		}), longest("a")},
		{"long pieces", fill(func(i int) string { return "allow *" + strings.Repeat("a", 8000-i) + "b" }), longest("a")},
		{"pieces of a hundred", fill(func(i int) string {
			return fmt.Sprintf("allow *%s%s!%s", strings.Repeat("a", i%90), pair(i), strings.Repeat("a", 90-i%90))
		}), longest("a")},
		{"both spellings", fill(func(i int) string { return "allow: *" + pair(i) + "*:*|" }), longest(all[:200] + "%3A/")},
		{"both spellings, pieces of one byte", fill(func(i int) string { return "allow *" + strings.Repeat("a*b*", 2000) + "|" }), longest("ab")[:8000] + "%3A"},
		{"all words of two letters", fill(func(i int) string {
			var b strings.Builder
			for word := i*300 + 1; word <= i*300+300; word++ {
				b.WriteString("*" + strings.Map(func(r rune) rune { return r + 'a' - '0' }, strconv.FormatInt(int64(word), 2)))
			}
			return "allow " + b.String() + "*|"
		}), longest(words(13))},
		{"no UTF-8", fill(func(i int) string { return "allow *" + pair(i) + strings.Repeat("\xE9*", i%50) + "|" }), longest(all)[:4000] + strings.Repeat("%E9", 1000)},
		{"no UTF-8, short rules", fill(func(i int) string { return "allow *" + string([]byte{byte(0x80 + i%64), byte(0x80 + i/64%64)}) + "*|" }), longest(all)},
		{"codes of reserved characters", fill(func(i int) string { return "allow *" + pair(i) + "%2C*|" }), longest(all[:200] + "%2C")},
		{"many codes of reserved characters", fill(func(i int) string { return "allow *" + strings.Repeat("%2C*", i%50) + pair(i) + "|" }), longest("%2C,")},
		{"codes", fill(func(i int) string { return "allow *" + strings.Repeat("%2A", 500-i%500) + "*|" }), longest("*")},
		{"groups of ours", fill(func(i int) string { return "useragent *\nallow *" + pair(i) + "*|" }), longest(all)},
		{"groups of others", fill(func(i int) string { return "useragent " + pair(i) + "\nallow *" + pair(i) + "*|" }), longest(all)},
		{"agents", fill(func(i int) string { return "useragent a" }) + "allow *a*|\n", longest(all)},
		{"plain rules", fill(func(i int) string { return "allow /a" }), longest("b")},
		{"plain rules, long", fill(func(i int) string { return fmt.Sprintf("allow /%s%d", strings.Repeat("a", 7990), i) }), longest("a")},
		{"ends", fill(func(i int) string { return "allow *" + pair(i) + "*|*" + strings.Repeat("a", i%5) + "$" }), longest(all)[:8000] + "aaaaa"},
	}
}

// maxSteps is the most steps that a search may take: each rule is looked at, each
// piece is found once, and each byte of the URL costs no more than the logarithm
// of the number of pieces, times the length of the longest in 64 bytes.
func maxSteps(f *File, groups []membership, url string) int {
	rules, found, octets, longest := 0, 0, 0, 0
	for _, g := range groups {
		for _, r := range g.rules {
			rules++
			octets += 3 * len(r.value) // all of it encoded
			found += int(r.strict.to - r.strict.from)
			if r.loose != nil {
				found += int(r.loose.to - r.loose.from)
			}
		}
	}
	for _, piece := range f.pieces.text {
		longest = max(longest, min(len(piece), len(url)))
	}
	deep := bits.Len(uint(len(f.pieces.text)))
	return 4*rules + octets/64 + 8*found + 2*len(url)*(1+deep*(deep+3)*(1+longest/64))
}

// TestHostileFiles: no file makes a check take more steps than its bound, or more
// than five million, which are some ten milliseconds. Rules times bytes of the URL
// would be a hundred times as many.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	const most = 5_000_000
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			f, u := Parse([]byte(a.text)), canonical(t, "http://h"+a.path)
			groups, target := f.groupsFor("recrawl"), newTarget(u.Target())
			best, steps := f.decisive(groups, target)
			if best != nil {
				t.Errorf("line %d matches, so this is no attack", best.line)
			}
			if bound := maxSteps(f, groups, target.strict); steps > most || steps > bound {
				t.Errorf("%d steps; the bounds are %d and %d", steps, most, bound)
			}
		})
	}
}

// TestHostileMemory: reading a file and checking a URL allocates less than 64
// times the bytes that count, and keeps less than 24 times of that, even with the
// most rules, groups, pieces or stars possible. Not parallel: it reads the memory of
// the process.
func TestHostileMemory(t *testing.T) {
	largest := []string{"1995 lines of *a, 118 times", "short rules", "both spellings", "groups of ours", "plain rules", "all words of two letters", "no UTF-8", "no UTF-8, short rules", "codes of reserved characters", "many codes of reserved characters"}
	for _, a := range attacks() {
		if !slices.Contains(largest, a.name) {
			continue
		}
		u := canonical(t, "http://h"+a.path)
		var before, after, kept runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := Parse([]byte(a.text))
		f.Check("recrawl", u)
		runtime.ReadMemStats(&after)
		runtime.GC()
		runtime.ReadMemStats(&kept)
		runtime.KeepAlive(f)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64*MaxBytes {
			t.Errorf("%s: %d bytes allocated", a.name, n)
		}
		if n := int64(kept.HeapAlloc) - int64(before.HeapAlloc); n > 24*MaxBytes {
			t.Errorf("%s: %d bytes kept", a.name, n)
		}
	}
}

// FuzzWork looks for files and URLs that take more steps than the bound says. The
// file is filled with the lines, numbered where they have a "0", and the URL
// with the path, so that anything that grows faster than it should shows.
func FuzzWork(f *testing.F) {
	f.Add("allow *a0*b*|\nallow /0*a$", "ab0")
	f.Add("Disallow: *a*a*a*a*|", "a")
	f.Add("allow *"+strings.Repeat("a", 60)+"*b\nallow *"+strings.Repeat("a", 30)+"0*|", "aaaaaaab")
	f.Add("allow *%3A*00*0\nallow *:*/*?", "%3A/0?%3a")
	f.Add("allow *aa*a\nallow *a*aa*\nallow *aaa*0", "aaab0")
	f.Fuzz(func(t *testing.T, lines, path string) {
		const size, room = 32 << 10, 1 << 10
		if path == "" || lines == "" {
			return
		}
		var text strings.Builder
		text.WriteString("User-agent: *\n")
		for i := 0; text.Len() < size; i++ {
			text.WriteString(strings.ReplaceAll(lines, "0", strconv.Itoa(i)) + "\n")
		}
		u, err := urlkey.Canonical("http://h/" + strings.Repeat(path, 1+room/len(path)))
		if err != nil {
			return
		}
		file := Parse([]byte(text.String()))
		groups := file.groupsFor("recrawl")
		if len(groups) == 0 {
			return
		}
		target := newTarget(u.Target())
		if _, steps := file.decisive(groups, target); steps > maxSteps(file, groups, target.strict) {
			t.Errorf("%d steps, the bound is %d", steps, maxSteps(file, groups, target.strict))
		}
	})
}

// BenchmarkCheckHostile: the most that a site can make one URL cost.
func BenchmarkCheckHostile(b *testing.B) {
	for _, a := range attacks() {
		b.Run(a.name, func(b *testing.B) {
			f, u := Parse([]byte(a.text)), canonical(b, "http://h"+a.path)
			_, steps := f.decisive(f.groupsFor("x"), newTarget(u.Target()))
			b.ReportAllocs()
			for b.Loop() {
				f.Check("recrawl", u)
			}
			b.ReportMetric(float64(steps), "steps/op")
		})
	}
}

// BenchmarkParseHostile: the cost of reading such a file.
func BenchmarkParseHostile(b *testing.B) {
	for _, a := range attacks() {
		b.Run(a.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse([]byte(a.text))
			}
		})
	}
}
