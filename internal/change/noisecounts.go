package change

import (
	"strings"
	"sync"
)

// countLabels name counters of readers in further languages, in the notation of
// moreStampLabels: "Lượt xem: 123", "123 katselukertaa".
var countLabels = sync.OnceValue(func() *phraseTree {
	return treeOf(expandAll([]string{
		// Chinese, Japanese.
		`浏览次数, 浏览数, 浏览人数, 瀏覽次數, 瀏覽數, 瀏覽人數, 瀏覽量, 阅读数, 阅读次数, 阅读人数, 閱讀數, 閱讀次數, 点击数, 点击次数, 點擊數, 點擊次數, 點閱數, 點閱次數, 人气, 人氣, 访问量, 访问次数, 访问人数, 訪問量, 訪問次數, 訪客數,
		观看次数, 观看人数, 觀看次數, 播放次数, 播放次數, 下载次数, 下載次數, 回复数, 评论数, 評論數, 閲覧回数, 閲覧者数, 再生数, ビュー数, 訪問者数, 来場者数`,
		// Vietnamese, Thai, Indonesian, Malay, Hindi.
		`lượt|số+lượt|số+lần xem|đọc|truy+cập|tải|tải+về, _|จำนวน ผู้เข้าชม, เข้าชม, เปิดอ่าน, ยอดวิว, จำนวนผู้เข้าชม, จำนวนคนดู, จำนวนครั้งที่ดู, ยอดเข้าชม,
		dilihat|dibaca|dikunjungi|ditonton|diunduh, _|jumlah tontonan|paparan|tayangan|pengunjung, बार देखा गया`,
		// Arabic, Persian, Urdu, Hebrew.
		`_|عدد المشاهدات|مشاهدات|المشاهدة|الزيارات|زيارات|القراءات|قراءات|الزوار|التحميلات, عدد المشاهدين|مرات+المشاهدة, _|تعداد بازدید|بازدیدها|دانلود|دانلودها, تعداد نمایش|نظرات, مناظر, _|מספר צפיות|כניסות|קריאות|הורדות`,
		// Turkish, Hungarian, Finnish, Estonian, Greek.
		`görüntülenme|görüntüleme|okunma|izlenme|indirilme|ziyaretçi|tıklanma _|sayısı, indirme|yorum sayısı, megtekintések|megtekintés|letöltések|olvasások|látogatók _|száma, olvasva|megtekintve,
		katselukertaa|katselukerrat|lukukertaa|lukukerrat|latauskerrat|katselut|näyttökerrat, vaatamisi|vaatamised|vaadatud, _|αριθμός προβολές|προβολών|εμφανίσεις|εμφανίσεων|αναγνώσεις|αναγνώσεων`,
		// Czech, Slovak, Slovene, Croatian, Serbian, Bulgarian, Romanian.
		`zobrazeno|přečteno|zhlédnuto|zobrazené|prečítané|zobrazení|zhlédnutí|přečtení|zobrazenia|prečítaní|videní, počet zobrazení|přečtení|zhlédnutí|návštěv|návštev|stažení|stiahnutí|prečítaní|videní,
		_|število ogledov|ogledi|branj, _|broj pregleda|pregledi|čitanja, _|број прегледа|прегледи, _|брой прегледи|преглеждания|прочитания, видяна, _|număr _|de vizualizări|afișări|accesări|citiri`,
		// Danish, Norwegian, Ukrainian, Belarusian, Lithuanian, Latvian, Catalan, Galician.
		`_|antal|antall visninger|sidevisninger|lesninger|læsninger|nedlastinger, _|кількість переглядів|перегляди|прочитань|завантажень, _|колькасць праглядаў|прагляды, peržiūros|peržiūrų|peržiūrėta, skatījumi|skatīts,
		visualitzacions|visualizacións, ნახვები|ნახვა, դիտումներ|դիտում`,
		// Those of the languages of roles in more than one word.
		`view|page+view|pageview|visit|visitor|visitors|hit|hits|read|download|downloads count|counter, times viewed|visited|read|downloaded|accessed|seen, viewed|visited|downloaded|accessed|seen :,
		besucherzähler|zugriffszähler|seitenzugriffe|seitenbesuche, compteur de visites, contador de visitas|acessos, contatore visite|accessi, bezoekersteller, licznik odwiedzin, besöksräknare,
		besøgstæller|besøksteller, kävijälaskuri, счётчик|счетчик посещений, počítadlo přístupů|návštěv, látogatószámláló, ziyaretçi sayacı, アクセスカウンター, アクセスカウンタ, 访问计数, 訪問計數`,
		`number|no|total of views|visits|hits|reads|downloads, anzahl _|der aufrufe|zugriffe|besucher|downloads, nombre de|d'|d’ vues|visites|lectures|affichages|téléchargements, número|total|cantidad de visitas|vistas|lecturas|descargas,
		numero|totale di visite|visualizzazioni|letture, número|total de visualizações|visitas|acessos|leituras, aantal _|keer weergaven|bezoekers|gelezen|bekeken, liczba wyświetleń|odsłon|odwiedzin|pobrań, antal visningar|läsningar|besökare, количество|число просмотров|посещений|прочтений`,
	}))
})

// countTimes stand after such a number: "Dilihat 123 kali".
var countTimes = setOf(`times kali ครั้ง คน lần người lượt kertaa kez defa kişi krát razy keer раз разів פעמים مرة مرات بار 次 人 回 件`)

// namedCountAt is the length of a counter with one of countLabels, which must be a part of
// the line.
func (s *scanner) namedCountAt(i int) int {
	if !s.isEdge(i) {
		return 0
	}
	end := i
	if s.isCount(i) {
		end = s.multiplied(i) + 1
		n := s.longestAt(end, countLabels())
		if n == 0 || s.isOffered(i, end+n) {
			return 0
		}
		end += n
	} else {
		n := s.longestAt(i, countLabels())
		if end += n; n == 0 {
			return 0
		}
		if s.isMark(end, ":：") {
			end++
		}
		if !s.isCount(end) {
			return 0
		}
		end = s.multiplied(end) + 1
		if end < len(s.tokens) && countTimes()[s.tokens[end].lower] {
			end++
		}
	}
	if !s.isEdge(end) && !(end == len(s.tokens)-1 && s.isMark(end, ".。")) {
		return 0
	}
	return end - i
}

// presences begin the lines of forums that say who reads them now, names included, and of
// shops that say how many look at an offer.
var presences = sync.OnceValue(func() *phraseTree {
	return treeOf(expandAll([]string{
		`users|members|visitors _|currently browsing|viewing this forum|thread|topic|board :, currently active users viewing this thread :, there are|is currently # users|user browsing|viewing this thread|forum|topic,
		in total there are|is # users|user online, # member|members and # guest|guests are|is viewing this topic|board|thread, # people|users|visitors|shoppers|others|guests are _|currently|also viewing|watching|browsing this,
		# people|users|visitors|shoppers|others|guests are _|currently|also looking at this`,
		`mitglieder|besucher|benutzer in diesem forum|thema :, aktive benutzer in diesem forum|thema|bereich :, insgesamt sind|ist # besucher online, es betrachten _|derzeit|gerade # benutzer dieses thema|forum, # mitglied|mitglieder und # gast|gäste betrachten dieses thema|board`,
		`utilisateurs parcourant ce forum :, au total , il|ils y a # utilisateurs|utilisateur en ligne, au total il y a # utilisateurs|utilisateur en ligne, usuarios navegando por este foro :, en total hay # usuarios|usuario identificados|conectados|identificado|conectado,
		visitano il forum :, in totale ci|c' sono|è # utenti|utente connessi|connesso, usuários|utilizadores navegando|a+ver|vendo neste|este fórum :, gebruikers op dit forum :, in totaal zijn|is er # gebruikers|gebruiker online,
		użytkownicy przeglądający to forum :, användare som besöker denna kategori :, сейчас этот форум просматривают :, всего посетителей :`,
	}))
})

// presenceAt is the length of a line with one of presences: all of it.
func (s *scanner) presenceAt(i int) int {
	if i > 0 || s.longestAt(0, presences()) == 0 {
		return 0
	}
	return len(s.tokens)
}

// idLabels name what a server gives each request.
var idLabels = sync.OnceValue(func() *phraseTree {
	return treeOf(expandAll([]string{`_|cloudflare ray _|- id, _|x+- request|trace|correlation|session|incident|support _|- id, requestid|traceid|correlationid, anfrage - id, id de _|la requête|solicitud|petición`}))
})

// idAt is the length of an id of a request: hexadecimal digits, with hyphens perhaps.
func (s *scanner) idAt(i int) int {
	const least = 8 // digits
	label := 0
	if s.isEdge(i) {
		label = s.longestAt(i, idLabels())
	}
	if label == 0 {
		return 0
	}
	start := i + label
	for s.isMark(start, ":：#") {
		start++
	}
	end, digits, decimal := start, 0, false
	for ; end < len(s.tokens) && (end == start || !s.tokens[end].space); end++ {
		t := s.tokens[end]
		if strings.Trim(t.lower, "0123456789abcdef-") != "" {
			break
		}
		digits += len(t.text) - strings.Count(t.text, "-")
		decimal = decimal || t.number
	}
	if digits < least || !decimal || !s.isEdge(end) {
		return 0
	}
	return end - i
}
