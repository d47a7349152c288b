package change

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// beforeWords mean "before" as well as "ago": "3日前" is how old a post is, and until when a
// room can be cancelled. Ages in characters ("日前") do so too.
var beforeWords = setOf(`前 전 پیش לפני πριν před pred преди prije пре قبل önce əvvəl бұрын पहले পূর্বে আগে trước`)

// writtenWords say that something was written, beside which such a word means "ago". Those of
// the scripts without spaces end or begin a run of characters.
var writtenWords = setOf(`投稿 公開 作成 回答 返信
	发布于 发布於 发表于 发布 发表 回复于 回答于 创建于 提问于 回复 回答 评论 来自 發布於 發表於 發佈於 發佈 發表 回覆 來自
	작성 게시 등록 작성됨 게시됨 등록됨 답글 답글달기 댓글
	ارسال منتشر نوشته פורסם נכתב נוצר הועלה נשלח
	δημοσιεύθηκε δημοσιεύτηκε αναρτήθηκε γράφτηκε
	přidáno vloženo publikováno zveřejněno odesláno pridané vložené publikované zverejnené odoslané
	objavljeno objavio objavila dodano objavil публикувано публикувана добавено објављено објавено`)

func setOf(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for word := range strings.FieldsSeq(list) {
			all[word] = true
		}
		return all
	})
}

// saysAgo reports whether an age is one where it stands. One with beforeWords is, if it is
// alone in its part of the line, or beside a name or writtenWords, and the line has no price or
// share: those are terms.
func (s *scanner) saysAgo(from, to int) bool {
	ambiguous := false
	for i := from; i < to; i++ {
		ambiguous = ambiguous || s.is(i, isDenseAgo) || s.tokens[i].word && beforeWords()[s.tokens[i].lower]
	}
	if !ambiguous {
		return true
	}
	for i := range s.tokens {
		if s.isSign(i) {
			return false
		}
	}
	return s.leavesAgo(from) && s.followsAgo(to)
}

// leavesAgo reports whether what is before a token leaves it the beginning of an age.
func (s *scanner) leavesAgo(i int) bool {
	if s.isEdge(i) {
		return true
	}
	before := s.tokens[i-1]
	if !before.word {
		return false
	}
	first, _ := utf8.DecodeRuneInString(before.text)
	if isDense(first) {
		return s.tokens[i].space || s.endsWritten(before.lower)
	}
	return writtenWords()[before.lower] || unicode.IsUpper(first) && !s.isEdge(i-1) // "Jan Novák před 3 dny"
}

// followsAgo reports whether a token may stand after an age. A colon may not: "3日前：30".
func (s *scanner) followsAgo(i int) bool {
	if i >= len(s.tokens) {
		return true
	}
	after := s.tokens[i]
	first, _ := utf8.DecodeRuneInString(after.text)
	switch {
	case !after.word && !after.number:
		return s.isMark(i, separators+".。") && !s.isMark(i, ":：")
	case isDense(first):
		return after.space || s.beginsWritten(after.lower)
	}
	return after.space && (after.number || unicode.IsUpper(first)) || writtenWords()[after.lower]
}

func (s *scanner) endsWritten(run string) bool {
	for i := range run {
		if writtenWords()[run[i:]] {
			return true
		}
	}
	return false
}

func (s *scanner) beginsWritten(run string) bool {
	for i := range run {
		if writtenWords()[run[:i]] {
			return true
		}
	}
	return writtenWords()[run]
}

// bounds stand before a number that is a limit, or is part of an offer, so that it counts no
// readers: "up to 10,000 visits", "max. 5 downloads".
var bounds = sync.OnceValue(func() [][]string {
	return phrases(`up to, at most, at least, no more than, max, max ., maximum, minimum, includes, include, included, including, limit, unlimited,
		bis zu, höchstens, maximal, mindestens, inklusive, inkl ., enthält, umfasst, jusqu ' à, jusqu ’ à, au maximum, maximum de, au plus, inclut, comprend,
		hasta, como máximo, máximo, máx ., incluye, fino a, al massimo, massimo, include, até, no máximo, inclui,
		tot, maximaal, bevat, inclusief, do, maksymalnie, maks ., zawiera, upp till, högst, ingår, op til, opptil, enintään, до, не более, максимум, включает,
		最大, 最多, 最高, 至多, 不超过, 不超過, 含, 包含, 최대, 포함`)
})

// isOffered reports whether the count between two tokens is part of an offer: a bound, a rate
// ("visits / month"), or a number that has a price ("12 visits - 90 €").
func (s *scanner) isOffered(from, to int) bool {
	before := from
	for s.isNumber(before-1) && s.isNumber(before) { // the thousands of "10 000"
		before--
	}
	if s.isMark(before-1, ":：") {
		before--
	}
	for _, phrase := range bounds() {
		if len(phrase) <= before && s.phraseAt(before-len(phrase), phrase) > 0 {
			return true
		}
	}
	if s.isMark(to, "/") && (s.is(to+1, isUnit) || to+1 < len(s.tokens) && strings.Contains("月年日天周週", s.tokens[to+1].text)) {
		return true
	}
	return s.isMark(to, "-–—:：=/(（") && (s.isNumber(to+1) && s.isCurrency(to+2) || s.isCurrency(to+1) && s.isNumber(to+2))
}

// isCurrency reports whether a token is the sign of a currency.
func (s *scanner) isCurrency(i int) bool {
	if i < 0 || i >= len(s.tokens) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s.tokens[i].text)
	return unicode.Is(unicode.Sc, r)
}

// joining words make a count a part of what is before it: "Room with 2 views".
var joining = setOf(`with for of per without within mit für pro ohne avec pour par sans con para por senza com sem met voor zonder z dla med utan`)

// sums are the words before a colon that head a count of a page: "Total: 12 visits".
var sums = setOf(`total totals all today yesterday month week year page site stats statistics statistik statistiken gesamt heute insgesamt totale totaux aujourd hoy oggi hoje`)

// isAllowance reports whether a number that counts something says how much there is of it, and
// not how often a page was seen: "Physiotherapy: 12 visits".
func (s *scanner) isAllowance(i int) bool {
	const most = 3 // digits
	if i == 0 || len(s.tokens[i].text) > most || s.is(s.multiplied(i), isMultiple) {
		return false
	}
	if joining()[s.tokens[i-1].lower] {
		return i > 1 && !s.isEdge(i-1)
	}
	counted := i + 1
	return i > 1 && s.isMark(i-1, ":") && s.tokens[i-2].word && !sums()[s.tokens[i-2].lower] &&
		counted < len(s.tokens) && allowed()[s.tokens[counted].lower]
}

// allowed are counted things of which somebody may have a number.
var allowed = setOf(`visit visits download downloads install installs visite visites visitas besuche`)

// goods are words for how many of a thing a shop has, or for how much.
var goods = setOf(`available availability stock price left verfügbar vorrätig lager lagernd preis disponible disponibles prix
	precio existencias disponibile disponibili prezzo disponível disponíveis estoque preço beschikbaar voorraad prijs dostępne dostępny
	cena tillgänglig tillgängliga pris доступно наличии цена`)

// isInShop reports whether a token is the word "online" and another one of goods: "Available online: 5" counts
// no readers.
func (s *scanner) isInShop(i, of int) bool {
	return of >= 0 && i < len(s.tokens) && s.tokens[i].lower == "online" && goods()[s.tokens[of].lower]
}
