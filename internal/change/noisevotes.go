package change

import "sync"

// voteCounters count the readers who found a page helpful, as help centers, shops and blogs
// put it. # stands for a number. The numbers of other votes are part of a page: of an
// election, say.
var voteCounters = sync.OnceValue(func() *phraseTree {
	return treeOf(expand(`
	# out+of|of # found this|it _|article|page|answer helpful|useful, # out+of|of # people|users|customers|readers _|have found this|it _|article|page|answer|review helpful|useful,
	# people|person|users|user|customers|customer|readers|reader found this|it _|article|page|answer|review helpful|useful, one person found this|it _|article|page|answer|review helpful|useful,
	viewed|seen|read|watched|visited|downloaded by # people|persons|users|visitors|readers|members, # people|persons|users|visitors|readers|members _|have viewed|seen|read|watched|visited|downloaded this _|page|article|post|video|product|item _|today,
	was this _|article|page|answer helpful ? yes # no #, helpful|useful ( # ), _|not|un helpful : #,
	# von # fanden|finden dies|das|dieses|diesen|diese|es _|hilfreich hilfreich|artikel|seite _|hilfreich, # person|personen|nutzer|kunden|kunde|leser fand|fanden|finden dies|das|diese|diesen|es _|artikel|seite|informationen|rezension hilfreich|nützlich,
	utilisateurs qui ont trouvé cela utile : # sur #, # sur # ont trouvé cela|cet+article|ceci utile, # personne|personnes|utilisateurs|utilisateur|lecteurs a|ont trouvé cela|ceci|cet+article|cette+page utile,
	usuarios a los que les pareció|resultó útil : # de #, # de # personas|usuarios encontraron|consideraron _|que esto|este+artículo _|es|fue útil, a # persona|personas les|le ha|pareció|resultó _|resultado|parecido útil, a # de # les|le pareció|resultó útil, # de # encontraron esto útil,
	utenti che ritengono sia utile : # su #, # su # hanno|ha trovato|ritenuto utile _|questo|questo+articolo, # persona|persone|utenti ha|hanno trovato _|questo utile _|questo|questo+articolo,
	usuários que acharam isso útil : # de #, utilizadores que acharam útil : # de #, # de # acharam|consideraram isso|isto|este+artigo útil, # pessoa|pessoas|usuários achou|acharam|consideraram isso|isto|este+artigo útil,
	aantal gebruikers dat dit nuttig vond : # van #, # van # vonden|vond dit _|artikel nuttig|handig|behulpzaam, # mensen|personen|persoon|gebruikers vonden|vond dit _|artikel nuttig|handig|behulpzaam,
	liczba użytkowników , którzy uważają ten artykuł za przydatny : # z #, # z # uznało|uważa to|ten+artykuł za pomocne|pomocny|przydatne|przydatny, # osób|osoby|osoba uznało|uznały|uznała to|ten+artykuł za pomocne|pomocny|przydatne|przydatny,
	# av # tyckte|syntes _|att detta|dette|det|den+här+artikeln var|er _|till|til hjälp|hjelp|nyttig|nyttigt|hjälpsamt|hjelpsomt, # personer|person tyckte|syntes _|att detta|dette|det var _|till|til hjälp|hjelp|nyttig|nyttigt, # ud af # fandt|syntes dette|det _|var nyttigt|hjælpsomt|brugbart, # personer|person fandt|syntes dette|det nyttigt|hjælpsomt|brugbart,
	# / # koki _|tästä|tämän _|artikkelin olevan|olleen apua|hyödylliseksi|hyödyllinen, # : stä|sta # koki tästä olevan apua,
	пользователи , считающие этот материал полезным : # из #, # из # считают|сочли _|это|этот+материал|эту+статью полезным|полезной, # человек|человека|пользователей|пользователя|пользователь считают|считает|сочли _|это|этот+материал|эту+статью полезным|полезной,
	# kişi içerisinden # kişi bunun yardımcı olduğunu düşündü, # kişiden # kişi|i bunu|bunun faydalı|yararlı|yardımcı buldu|olduğunu+düşündü, # kişi bunu faydalı|yararlı buldu,
	# dari # orang|pengguna _|merasa|menganggap ini|artikel+ini membantu|bermanfaat, # dari # merasa|menganggap ini membantu|bermanfaat,
	# 人中 # 人がこの記事が役に立ったと言っています, # 人中 # 人が役に立ったと回答しました, # 人がこの記事が役に立ったと言っています, # 人のお客様がこれが役に立ったと考えています, # 人のお客様がこれが役に立ったと考えています, # 人が役に立ったと言っています,
	# 人中有 # 人觉得有帮助, # 人中有 # 人覺得有幫助, # 人觉得有帮助, # 人覺得有幫助, # 人认为有用, # 人認為有用, 有 # 人觉得有帮助, 有 # 人覺得有幫助, 有 # 人认为有帮助, # 个人发现此评论有用,
	# 명 중 # 명이 도움이 되었다고 했습니다, # 명 중 # 명이 도움이 된다고 했습니다, # 명이 도움이 되었다고 했습니다, # 명이 이 글이 도움이 되었다고 했습니다,
	_|average _|user rating|score _|: # ( # votes|ratings|vote|rating ), _|average _|user rating|score _|: # / # ( # votes|ratings|vote|rating ), _|average _|user rating|score _|: # out of # ( # votes|ratings|vote|rating ),
	_|durchschnittliche bewertung|bewertungen : # ( # stimmen|stimme|bewertungen|bewertung ), bewertung : # / # ( # stimmen|bewertungen ), note _|moyenne : # ( # votes|avis|vote ), note : # / # ( # votes|avis|vote ), valoración|puntuación|calificación : # ( # votos|voto|valoraciones ), valutazione|voto : # ( # voti|voto|recensioni ),
	avaliação|classificação|nota : # ( # votos|voto|avaliações ), beoordeling|waardering : # ( # stemmen|stem|beoordelingen ), ocena : # ( # głosów|głosy|głos|ocen ), betyg : # ( # röster|röst ), рейтинг|оценка : # ( # голосов|голоса|голос|оценок )`))
})

// votesAt is the length of a count of votes that is a part of the line.
func (s *scanner) votesAt(i int) int {
	if !s.isEdge(i) && !s.isMark(i-1, "?？") {
		return 0
	}
	n := s.longestAt(i, voteCounters())
	if n == 0 || i+n < len(s.tokens) && !s.isMark(i+n, "·•|/—–()[].。") {
		return 0
	}
	return n
}
