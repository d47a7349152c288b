package change

import "sync"

// hitCounters count the visitors of a page or a site, in a sentence about itself. # stands
// for a number, and for the sign of that form.
var hitCounters = sync.OnceValue(func() *phraseTree {
	return treeOf(expand(`
	this|the page|site|website|article|topic|document|entry|wiki|file has|was _|already _|been accessed|viewed|visited|read|seen|loaded|opened|downloaded # times|time,
	_|hit|visitor|visit|visitors|page counter : #, hit|visitor|visit counter #, visitor|visitors|hit number|no+.|nr+.|# #,
	# people|persons|users|visitors|readers|members have _|already viewed|visited|read|seen|downloaded this page|article|post|video|product|item|site|website|file _|so+far|today,
	this|the page|article|post|topic|video|site|website|file|document|entry has _|had|received|got _|a+total+of # views|visits|hits|visitors|reads|pageviews|comments|likes,
	we have had # visitors|visits|hits, there have been # visitors|visits|hits to|on this|our page|site|website,
	you are _|the|our visitor|guest _|number|no+.|nr+.|# #, you are _|the|our # . visitor|guest, you are _|the|our # st|nd|rd|th visitor|guest,
	sie|du sind|bist _|der|die|unser|unsere # . besucher|besucherin|gast, sie|du sind|bist besucher|besucherin|gast _|nr+.|nummer #, diese|die seite|website wurde|ist _|bereits|schon|bisher # mal|x _|mal besucht|aufgerufen|angesehen|gelesen|abgerufen,
	vous êtes le _|n+° # _|e|ème|eme|ième|er visiteur, cette|la page a été consultée|vue|visitée|lue # fois,
	eres|es|usted+es el _|visitante # _|visitante, esta página ha sido vista|visitada|leída|consultada # veces|vez,
	sei il _|visitatore|visitatore+numero|visitatore+n+. # _|° _|visitatore, questa pagina è stata visitata|letta|vista|visualizzata # volte|volta,
	você é o _|visitante|visitante+número # _|º _|visitante, esta página foi visitada|vista|acessada|lida # vezes|vez,
	u|je bent _|de|onze bezoeker _|nummer|nr+. #, u|je bent _|de|onze # e bezoeker, deze pagina is _|al # keer _|bekeken|bezocht|gelezen|opgevraagd,
	jesteś _|naszym # . _|gościem|odwiedzającym, tę|ta strona _|stronę _|została _|odwiedzono|wyświetlono|odwiedzona|wyświetlona # razy|raz,
	total visits|visitors|pageviews _|: #, visits|visitors|pageviews today|yesterday|total|online _|: #, online now : #, users|visitors|guests online _|now : #,
	there are|is currently # users|user online . # members|member and # guests|guest, there are|is currently # users|user _|and+#+guests|and+#+guest online,
	we have #|one|no guests|guest and #|one|no members|member online, we have #|one guests|guest online, aktuell sind #|ein|keine gäste|gast und #|ein|keine mitglieder|mitglied online,
	nous avons #|un|aucun invités|invité et #|un|aucun membres|membre|inscrits en ligne, hay #|un|ningún invitados|invitado y #|un|ningún miembros|miembro en línea,
	abbiamo #|un|nessun visitatori|visitatore e #|un|nessun utenti|utente online, we hebben #|één|geen gasten|gast en #|één|geen leden|lid online,
	temos #|um|nenhum visitantes|visitante e #|um|nenhum membros|membro online, odwiedza nas #|jeden gości|gość oraz # użytkowników|użytkownik,
	сейчас # гостей|гостя|гость и ни+одного|# зарегистрированного|зарегистрированных|зарегистрированный пользователя|пользователей|пользователь на сайте,
	сейчас на сайте # гостей|гостя|гость и #|нет пользователей|пользователя|пользователь,
	besucher|zugriffe|aufrufe|seitenaufrufe heute|gestern|gesamt|online _|: #, visites|visiteurs aujourd'hui|totales|total _|: #, visitas|visitantes hoy|totales|ayer _|: #, visite|visitatori oggi|totali|ieri _|: #,
	visitas|visitantes hoje|ontem|total _|: #, bezoekers|bezoeken vandaag|gisteren|totaal _|: #, odwiedziny|odwiedzin|wizyt dzisiaj|wczoraj|razem|łącznie _|: #, посетителей|посещений|просмотров сегодня|вчера|всего _|: #,
	_|this|the page|site|document|script|request _|was generated|rendered|created|loaded|built|processed|served in # s|sec|secs|second|seconds|ms|milliseconds _|with+#+queries|with+#+query|using+#+queries|and+#+queries|with+#+database+queries,
	_|diese|die seite _|wurde _|in # sekunden|s|ms generiert|erzeugt|geladen|erstellt|aufgebaut, seite generiert|erzeugt|geladen|erstellt in # sekunden|s|ms,
	_|cette page _|a+été générée|chargée|créée en # secondes|seconde|s|ms, _|esta página _|fue generada|cargada|creada en # segundos|s|ms, _|questa pagina _|è+stata generata|caricata|creata in # secondi|s|ms,
	_|esta página _|foi gerada|carregada|criada em # segundos|s|ms, _|deze pagina _|is geladen|gegenereerd in # seconden|s|ms, _|ta strona _|została wygenerowana w|w+ciągu # sekund|sekundy|s|ms,
	_|эта страница _|была сгенерирована|создана|загружена за # секунд|секунды|сек|с|мс, stránka _|byla vygenerována za # sekund|sekundy|s|ms,
	all times are|shown|in gmt|utc|est|cet _|±|- _|# . the time now is # _|am|pm .,
	alle zeitangaben in wez|gmt|utc|mez _|±|- _|# . es ist jetzt|nun # uhr .,
	le fuseau horaire est gmt|utc _|±|- _|# . il est actuellement # .,
	la franja horaria es gmt|utc _|±|- _|# . ahora son las # _|am|pm .,
	вы _|наш # _|- _|й посетитель, эту|эта страница|страницу просмотрели|посетили|просмотрена|посетило # раз|раза`))
})

// beginsPresence begin a line that says who is there, which may have no digit: "We have one guest and no members online".
var beginsPresence = setOf(`we nous abbiamo hay aktuell temos odwiedza`)

// hitsMost bounds the running text, in bytes, in which hits are looked for.
const hitsMost = 160

// mayCountHits spares most running text the scan: t is its first word.
func mayCountHits(line string, t token) bool {
	return len(line) <= hitsMost && hasDigit(line) && (hitCounters().below(t) != nil || presences().below(t) != nil)
}

// hitsAt is the length of a count of hits that fills the line. Only the time since when it
// counts may follow: "This page has been viewed 1,006 times since May 2009."
func (s *scanner) hitsAt(i int) int {
	if i > 0 {
		return 0
	}
	n := s.longestAt(0, hitCounters())
	if n == 0 || n < len(s.tokens) && s.tokens[n].lower != "since" && !(n == len(s.tokens)-1 && s.isMark(n, ".!。！")) {
		return 0
	}
	return n
}
