package change

import (
	"strings"
	"sync"
)

// role is a possible role of a word in noise. The same word may have several, and
// in several languages: those of a page are not known for sure, and its boilerplate
// may be in another.
type role uint32

const (
	isUnit        role = 1 << iota // of time
	isLongUnit                     // months and years
	isShortUnit                    // seconds and less, in which pages are made
	isAgo                          // after a number with a unit
	isDenseAgo                     // a unit and "ago" in one word
	isAbout                        // before the number of an age
	isOne                          // a word for one
	isAnd                          // between two parts of an age
	isNow                          // begins an age without a number
	isCounted                      // what counters count
	isCounting                     // between the number and the counted thing
	isRead                         // done a number of times
	isTimes                        // after a count: "5 times"
	isMultiple                     // thousand, million
	isDate                         // a month, a weekday, a part of a time of day
	isDateJoin                     // stands within dates
	isMaking                       // how a page comes about
	beginsStamp                    // the first word of a label
	isStampDate                    // in the date after a label
	isStampJoin                    // stands within such dates
	beginsAgo                      // before the number of an age
	isStampAgo                     // before or after an age that follows a label
	endsStamp                      // the first word of stampEnds
	isStampNoun                    // of stampNouns
	isCountedOne                   // what counters count, for one: before a number, it is that number's name
	isCountedMany                  // what counters count, if there are a thousand: French for reads, English for lessons; stars, also of hotels
	isBound                        // a setting that bounds a time
	isWithin                       // before the time that something took
)

// roles are the words by their roles, in English, German, French, Spanish,
// Italian, Portuguese, Dutch, Polish, Swedish, Russian, Japanese, Chinese and
// Korean, where a language uses the form. Commands that compare nothing do not make them.
var roles = sync.OnceValue(func() map[string]role {
	all := map[string]role{}
	for r, list := range map[role]string{
		isUnit: `second seconds sec secs s minute minutes min mins m hour hours hr hrs h day days d week weeks wk w month months mo year years yr yrs y
			sekunde sekunden sek minuten stunde stunden std tag tage tagen woche wochen monat monate monaten jahr jahre jahren
			seconde secondes heure heures jour jours j semaine semaines mois an ans année années
			segundo segundos minuto minutos hora horas día días semana semanas mes meses año años
			secondo secondi minuti ora ore giorno giorni settimana settimane mese mesi anno anni
			dia dias mês ano anos
			seconden minuut uur uren dag dagen weken maand maanden jaar
			sekund sekundy minut minuty minutę godzin godziny godzinę dni dzień tygodni tygodnie miesięcy lat
			sekunder minuter timme timmar dagar vecka veckor månad månader år
			секунд секунды секунду сек минут минуты минуту мин час часа часов день дня дней неделю недели недель месяц месяца месяцев год года лет
			초 분 시간 일 주 개월 년 godz tyg mies ч дн нед мес`,
		isLongUnit: `month months mo year years yr yrs y monat monate monaten jahr jahre jahren mois an ans année années mes meses año años mese
			mesi anno anni mês ano anos maand maanden jaar miesięcy lat månad månader år месяц месяца месяцев год года лет 개월 년`,
		isShortUnit: `ms s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo secondi seconden sekund sekundy
			sekunder секунд секунды сек 秒 ミリ秒 초`,
		isAgo:      `ago fa atrás geleden temu sedan siden назад 전 前`,
		isDenseAgo: `秒前 分前 分钟前 時間前 小时前 日前 天前 週間前 周前 か月前 ヶ月前 カ月前 个月前 年前 秒钟前 时前`,
		isAbout:    `about almost over around approximately nearly ca etwa circa environ alrededor unos unas circa cerca около prawie ungefär ongeveer 約 约 약`,
		isOne:      `a an one few einer einem einigen une un una uno unos um uma een en ett`,
		isAnd:      `and und et y e en i och и`,
		isNow: `just moments now yesterday today gerade soeben jetzt gestern heute à aujourd hier ahora hoy ayer adesso oggi ieri ora agora
			hoje ontem zojuist vandaag gisteren teraz dzisiaj dziś wczoraj nyss idag igår только сейчас сегодня вчера
			たった今 今日 昨日 刚刚 今天 昨天 방금 오늘 어제`,
		isCounted: `view views pageview pageviews visit visits visitor visitors hit hits read reads download downloads install installs like likes
			follower followers subscriber subscribers comment comments reply replies online viewing watching
			aufruf aufrufe seitenaufrufe zugriff zugriffe besucher besuche klicks ansichten abrufe gelesen angesehen kommentar kommentare antworten
			vue vues visite visites visiteur visiteurs téléchargements commentaire commentaires réponses
			visita visitas visitante visitantes vistas lectura lecturas descargas comentario comentarios respuestas
			visualizzazione visualizzazioni visitatori letture commento commenti risposte accessi
			visualizações visualização acessos leituras comentário comentários respostas
			weergave weergaven bezoekers bezoeken reacties odsłon odsłony wyświetleń wyświetlenia odwiedzin komentarzy komentarze
			visningar besökare kommentarer läsningar просмотр просмотра просмотров просмотры посетителей посещений комментарий комментария
			комментариев комментарии ответов
			閲覧 閲覧数 回閲覧 回視聴 再生回数 アクセス アクセス数 コメント コメント数 人が閲覧 次浏览 浏览 浏览量 阅读 阅读量 次阅读 次播放 播放量 点击 点击量 评论
			条评论 조회 조회수 댓글`,
		isCountedOne: `view pageview visit visitor hit read download install like follower subscriber comment reply aufruf zugriff kommentar vue visite
			visiteur commentaire visita visitante lectura comentario visualizzazione commento visualização comentário weergave просмотр комментарий`,
		isBound: `timeout timeouts limit limits max maximum min minimum default interval threshold delay deadline ttl zeitlimit zeitüberschreitung maximal maximale
			höchstens standard délai limite maximale défaut límite máximo máxima predeterminado massimo massima predefinito padrão limiet standaard
			limit maksymalny domyślny gräns таймаут лимит максимальное максимум タイムアウト 最大 超时 最长 제한`,
		isWithin:      `in en dans em w på за на`,
		isCountedMany: `lecture lectures star stars fork forks upvotes`,
		isCounting: `unique total users user guests guest members people readers active currently now registered page gäste mitglieder benutzer nutzer
			utilisateurs invités usuarios invitados utenti ospiti membri gebruikers gasten использователей пользователей гостей`,
		isRead: `viewed read seen visited downloaded shared accessed gelesen angesehen aufgerufen geklickt lu vu consulté visto leído visitado
			descargado letto visualizzato visitato lido acessado bekeken gelezen прочитано просмотрено wyświetlono przeczytano visad läst`,
		isTimes:    `times time mal x fois veces vez volte volta vezes keer raz razy gånger раз раза 回 次 件 人 번 회 개`,
		isMultiple: `k m b tsd tausend mio million millions mille mil mln млн тыс tys 万 千 億 亿 만`,
		isDate: `january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
			monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun am pm utc gmt cet cest est edt
			cst cdt mst mdt pst pdt bst ist jst msk z uhr today yesterday
			januar februar märz mai juni juli oktober dezember jän jänner mär dez montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so heute gestern
			janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr avr juil déc lundi mardi mercredi jeudi
			vendredi samedi dimanche lun mer jeu ven sam dim
			enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene abr ago dic lunes martes
			miércoles jueves viernes sábado domingo mié jue vie sáb dom
			gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott lunedì martedì
			mercoledì giovedì venerdì sabato domenica gio
			janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev out segunda terça quarta quinta sexta feira
			januari februari maart mei augustus mrt okt maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
			stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia poniedziałek wtorek środa
			czwartek piątek sobota niedziela
			mars maj juni juli augusti oktober måndag tisdag onsdag torsdag fredag lördag söndag kl
			января февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник вторник среда четверг пятница
			суббота воскресенье пн вт ср чт пт сб вс
			年 月 日 火 水 木 金 土 時 分 秒 时 号 年度 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 月曜 火曜 水曜 木曜 金曜 土曜 日曜 星期一 星期二 星期三
			星期四 星期五 星期六 星期日 星期天 午前 午後 上午 下午 년 월 일 시 분 초 오전 오후 요일`,
		isDateJoin: `at on of the st nd rd th um am den der le la à de del el a las alle ore il o om op och den w r o в г`,
		isMaking: `generated rendered loaded execution query queries generiert erzeugt geladen
			générée généré chargée generada generado cargada generata caricata gegenereerd wygenerowano genererad сгенерировано сгенерирована
			загружена 生成 表示 加载 耗时`,
	} {
		for _, word := range strings.Fields(list) {
			all[word] |= r
		}
	}
	addWords(all, moreUnits, isUnit)
	addWords(all, moreLongUnits, isLongUnit)
	addWords(all, moreAgos, isAgo)
	addWords(all, moreDenseAgos, isDenseAgo)
	addWords(all, moreStampAgos, isStampAgo)
	addWords(all, moreDateWords, isStampDate)
	addWords(all, otherMonths, isStampDate)
	addWords(all, moreDateJoins, isStampJoin)
	for _, list := range moreMonths {
		addWords(all, list, isDate)
	}
	for first := range stampLabels().next {
		all[first] |= beginsStamp
	}
	for first := range stampEnds().next {
		all[first] |= endsStamp
	}
	for noun := range stampNouns {
		all[noun] |= isStampNoun | beginsStamp
	}
	for _, phrase := range agoBefore {
		all[phrase[0]] |= beginsAgo
	}
	return all
})

func roleOf(lower string) role { return roles()[lower] }

// agoBefore are the words that stand before the number of an age, and nowPhrases
// the ages without one.
var (
	agoBefore  = phrases(`vor, il y a, hace, há, ` + moreAgoBefore)
	nowPhrases = phrases(`just now, moments ago, right now, gerade eben, soeben, à l ' instant, à l ’ instant, ahora mismo, proprio ora, poco fa, agora
		mesmo, zojuist, teraz, nyss, только что, たった今, 刚刚, 방금`)
)

// stampLabels are the labels of times that show when a page was made or checked. A
// time of publication is not among them: a page that changes it says something.
var stampLabels = sync.OnceValue(func() *phraseTree {
	list := phrases(`last update, last updated, last updated on, last updated at, updated, updated on, updated at, page updated, page last updated,
		page last modified, last modified, last modified on, modified, modified on, last edited, last edited on, edited, edited on, last changed,
		last change, last refreshed, refreshed, last checked, checked, generated, generated on, generated at, page generated, page generated on,
		rendered, rendered at, this page was last edited on, this page was last edited, this page was last updated, this page was last updated on,
		this page was last modified on, this page was last modified, this page was generated on, this page was generated at, content last
		updated, article updated, current time, the time is, the time is now, it is currently, server time, local time, time now, the time now is, today is,
		last activity, last seen, last active, last visit, last login,
		zuletzt aktualisiert, zuletzt aktualisiert am, aktualisiert, aktualisiert am, aktualisiert um, letzte aktualisierung, letzte änderung,
		letzte bearbeitung, zuletzt geändert, zuletzt geändert am, zuletzt bearbeitet, zuletzt bearbeitet am, geändert, geändert am, stand :, stand -,
		stand vom, aktuelle zeit, aktuelle uhrzeit, heute ist, generiert am, erzeugt am, diese seite wurde zuletzt am,
		mis à jour, mis à jour le, mise à jour, mise à jour le, page mise à jour le, dernière mise à jour, dernière mise à jour le, dernière
		modification, dernière modification le, modifié, modifié le, actualisé, actualisé le, actualisé à, générée le, page générée le, nous
		sommes le,
		última actualización, actualizado, actualizado el, actualizada el, actualización, última modificación, modificado, modificado el,
		última edición, hora actual, generado el,
		ultimo aggiornamento, aggiornato, aggiornato il, aggiornato al, aggiornamento, ultima modifica, modificato, modificato il, generato il,
		última atualização, atualizado, atualizado em, atualização, última modificação, modificado em, gerado em,
		laatst bijgewerkt, laatst bijgewerkt op, bijgewerkt, bijgewerkt op, laatst gewijzigd, laatst gewijzigd op, gewijzigd,
		ostatnia aktualizacja, zaktualizowano, aktualizacja, ostatnia zmiana, ostatnia modyfikacja, zmodyfikowano,
		senast uppdaterad, uppdaterad, senast ändrad, ändrad, senast uppdaterat, uppdaterat,
		обновлено, обновлён, последнее обновление, дата обновления, изменено, последнее изменение, текущее время, сейчас,
		最終更新, 最終更新日, 最終更新日時, 更新, 更新日, 更新日時, 更新時刻, 最新更新, 現在時刻, 现在时间, 今天是, 今日是, 今天日期, 最后更新, 最后更新于, 最后修改, 更新时间, 更新于, 更新日期, 最近更新,
		업데이트, 최종 업데이트, 최종 수정, 수정`)
	return treeOf(append(list, moreLabels()...))
})

// phrases splits a list at commas and its parts into words.
func phrases(list string) [][]string {
	var all [][]string
	for phrase := range strings.SplitSeq(list, ",") {
		all = append(all, strings.Fields(phrase))
	}
	return all
}

// months are the names of the months and their abbreviations, by number.
var months = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for i, list := range []string{
		`january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari stycznia января`,
		`february feb februar février févr febrero febbraio fevereiro fev februari lutego февраля`,
		`march mar märz mär mars marzo março maart mrt marca марта`,
		`april apr avril avr abril abr aprile kwietnia апреля`,
		`may mai mayo maggio mag maio mei maja maj мая`,
		`june jun juni juin junio giugno giu junho czerwca июня`,
		`july jul juli juillet juil julio luglio lug julho lipca июля`,
		`august aug août agosto ago augustus augusti sierpnia августа`,
		`september sep sept septembre septiembre setiembre settembre set setembro września сентября`,
		`october oct oktober okt octobre octubre ottobre ott outubro out października октября`,
		`november nov novembre noviembre novembro listopada ноября`,
		`december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря`,
	} {
		for _, name := range strings.Fields(list) {
			all[name] = i + 1
		}
	}
	addMonths(all)
	return all
})
