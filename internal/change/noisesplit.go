package change

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Lists and tables of facts have a label in one line and what it says in the next: "Last updated", "4 March 2026".

// dropLabelled drops a label that is all of a line, and the time or the count of readers in the next one.
func (c *core) dropLabelled() {
	bare := c.bare // then it may be what the label is of
	c.bare = strings.Trim(c.line, "0123456789.,'kKM ") == ""
	label := c.labelOf(c.line)
	if label == 0 {
		return
	}
	c.ahead = c.nextLine()
	// A clock is one word already.
	next := strings.ReplaceAll(strings.ReplaceAll(c.ahead, thenMark, ""), clockMark, " ")
	joined := strings.TrimRight(c.line, " :：") + ": " + next
	s := &c.words
	if next == "" || len(joined) > maxNoisyLine || !s.scan(joined) {
		return
	}
	for i := range label { // "page" of "page views"
		kind, n := s.noiseAt(i)
		if kind == stamp && i == 0 && n > label+1 && s.isEdge(n) || kind == counter && i+n == len(s.tokens) && !bare {
			c.line, c.ahead = "", c.withoutNoise(joined)
			return
		}
	}
}

// labelOf returns how many tokens a line has that is nothing but a label of a time or of a count of readers; 0 if it is another
// line.
func (c *core) labelOf(line string) int {
	const longest = 60 // bytes
	if len(line) > longest || hasDigit(line) || strings.Contains(line, clockMark) {
		return 0
	}
	views := viewLabels()[strings.ToLower(strings.TrimRight(line, " :："))]
	if !views && !beginsLabel(line) {
		return 0
	}
	s := &c.words
	s.scan(line)
	n := len(s.tokens)
	for n > 0 && s.isMark(n-1, ":：") {
		n--
	}
	if n > 0 && (views || s.stampLabelAt(0) == n) {
		return n
	}
	return 0
}

// beginsLabel reports whether a line begins with a word that begins a stamp.
func beginsLabel(line string) bool {
	line = line[spacesAt(line):]
	first, _ := utf8.DecodeRuneInString(line)
	if !unicode.IsLetter(first) {
		return false
	}
	size := wordLength(line)
	if isDense(first) {
		size = densePart(line[:size])
	}
	return roleOf(strings.ToLower(line[:size]))&beginsStamp != 0
}

// viewLabels are labels of counts of readers that name nothing else: "Downloads" may be a fact.
var viewLabels = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for label := range strings.SplitSeq(`views, page views, pageviews, total views, view count, page hits, times viewed, aufrufe, seitenaufrufe, zugriffe, vues, visualizzazioni,
		visualizações, visualizaciones, weergaven, odsłony, wyświetlenia, visningar, visninger, просмотры, просмотров, перегляди, 浏览, 浏览量, 浏览次数,
		阅读量, 阅读数, 阅读次数, 点击量, 瀏覽次數, 點閱次數, 閲覧数, アクセス数, 조회, 조회수, lượt xem, المشاهدات, عدد المشاهدات, görüntülenme`, ",") {
		all[strings.TrimSpace(label)] = true
	}
	return all
})
