package noisetest

import (
	"fmt"
	"strings"
	"time"
)

// language holds the texts that make a page look like one language.
type language struct {
	code  string
	words []string
	// space stands between words: "" in Japanese.
	space, stop string
	months      []string
	weekdays    []string // from Sunday
	// dateForm has {d}, {m}, {y} and, in some, {w}.
	dateForm, clockForm string
	decimal             string
	currency            string // with %s for the amount
	// numbered and dated are sentences with %s for a price or version, or a date.
	numbered, dated []string
	// The labels of boilerplate, each in several wordings: the first half is of the
	// tuning templates, the second of the held-out ones.
	stampForms   []string // with %s for a time
	agos         []string // with %d: minutes, hours, days
	viewForms    []string // with %s for a number
	adLabels     []string
	relatedForms []string
	navWords     []string
	comments     string // with %d
	readMore     string
	cookie       string
	sitelink     string
}

func (l *language) date(t time.Time) string {
	return strings.NewReplacer(
		"{d}", fmt.Sprint(t.Day()), "{m}", l.months[t.Month()-1], "{y}", fmt.Sprint(t.Year()), "{w}", l.weekdays[t.Weekday()],
	).Replace(l.dateForm)
}

// clock is the date and time of day as a header shows them.
func (l *language) clock(t time.Time) string {
	return l.weekdays[t.Weekday()] + ", " + l.date(t) + " " + t.Format(l.clockForm)
}

// ago is a time relative to the one at which the page is made.
func (l *language) ago(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf(l.agos[0], max(2, int(d.Minutes())))
	case d < 48*time.Hour:
		return fmt.Sprintf(l.agos[1], max(2, int(d.Hours())))
	}
	return fmt.Sprintf(l.agos[2], int(d.Hours()/24))
}

func (l *language) price(cents int) string {
	return fmt.Sprintf(l.currency, fmt.Sprintf("%d%s%02d", cents/100, l.decimal, cents%100))
}

// count groups the digits of a large number by threes.
func (l *language) count(n int) string {
	separator := ","
	if l.decimal == "," {
		separator = "."
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + separator + text[i:]
	}
	return text
}

// half returns the wordings of the tuning templates or of the held-out ones.
func half(wordings []string, heldOut bool) []string {
	middle := (len(wordings) + 1) / 2
	if heldOut && middle < len(wordings) {
		return wordings[middle:]
	}
	return wordings[:middle]
}

// languages are those of the tuning templates; all of them, and
// heldOutLanguages, are those of the held-out ones.
var languages = []language{
	{
		code: "en", space: " ", stop: ".", decimal: ".", currency: "$%s",
		words: strings.Fields(`market harbour river council budget school winter engine signal garden library minister question answer
			morning evening report number street village bridge letter window paper music season weather record history island
			station valley forest doctor teacher opens closes carries follows holds brings leaves reaches keeps moves turns shows
			quiet early narrow broad recent distant common double silver northern the a some every another this that its their
			over under after before without between visitors view read share update edition`),
		months:       strings.Fields("January February March April May June July August September October November December"),
		weekdays:     strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
		dateForm:     "{m} {d}, {y}",
		clockForm:    "3:04 PM",
		numbered:     []string{"The entry now costs %s for members", "Version %s is the one to install", "The committee set aside %s last spring", "Those who join pay %s at the door"},
		dated:        []string{"The meeting takes place on %s in the town hall", "The offer ends on %s", "It was founded on %s by two sisters"},
		stampForms:   []string{"Last updated: %s", "Updated %s", "Last modified on %s", "This page was last edited on %s"},
		agos:         []string{"%d minutes ago", "%d hours ago", "%d days ago"},
		viewForms:    []string{"%s views", "Views: %s", "%s reads", "Viewed %s times"},
		adLabels:     []string{"Advertisement", "Sponsored", "Ad", "Promoted"},
		relatedForms: []string{"Related articles", "You may also like", "Most read", "More from this section"},
		navWords:     strings.Fields("Home News Sport Culture Business Travel Science Opinion Contact Shop Help Archive Jobs Podcasts"),
		comments:     "%d comments", readMore: "Read more", cookie: "We use cookies to improve your experience.", sitelink: "Privacy policy",
	},
	{
		code: "de", space: " ", stop: ".", decimal: ",", currency: "%s €",
		words: strings.Fields(`Markt Hafen Fluss Rat Haushalt Schule Winter Motor Signal Garten Bücherei Minister Frage Antwort Morgen Abend
			Bericht Zahl Straße Dorf Brücke Brief Fenster Papier Musik Jahreszeit Wetter Geschichte Insel Bahnhof Tal Wald Ärztin Lehrer
			öffnet schließt trägt folgt hält bringt verlässt erreicht behält bewegt dreht zeigt ruhig früh schmal breit neu fern
			gemeinsam doppelt silbern nördlich der die das ein eine jede über unter nach vor ohne zwischen Besucher Ansicht teilen`),
		months:       strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
		weekdays:     strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag"),
		dateForm:     "{d}. {m} {y}",
		clockForm:    "15:04 Uhr",
		numbered:     []string{"Der Eintritt kostet jetzt %s", "Zu installieren ist die Version %s", "Der Ausschuss bewilligte %s im Frühjahr"},
		dated:        []string{"Die Sitzung findet am %s im Rathaus statt", "Das Angebot endet am %s", "Gegründet wurde er am %s von zwei Schwestern"},
		stampForms:   []string{"Zuletzt aktualisiert: %s", "Aktualisiert %s", "Stand: %s", "Letzte Änderung: %s"},
		agos:         []string{"vor %d Minuten", "vor %d Stunden", "vor %d Tagen"},
		viewForms:    []string{"%s Aufrufe", "Aufrufe: %s", "%s Mal gelesen", "%s Zugriffe"},
		adLabels:     []string{"Anzeige", "Werbung", "Gesponsert", "Anzeige"},
		relatedForms: []string{"Mehr zum Thema", "Das könnte Sie auch interessieren", "Meistgelesen", "Weitere Artikel"},
		navWords:     strings.Fields("Start Politik Sport Kultur Wirtschaft Reise Wissen Meinung Kontakt Laden Hilfe Archiv Jobs"),
		comments:     "%d Kommentare", readMore: "Weiterlesen", cookie: "Wir verwenden Cookies.", sitelink: "Impressum",
	},
	{
		code: "fr", space: " ", stop: ".", decimal: ",", currency: "%s €",
		words: strings.Fields(`marché port rivière conseil budget école hiver moteur signal jardin bibliothèque ministre question réponse matin
			soir rapport nombre rue village pont lettre fenêtre papier musique saison temps histoire île gare vallée forêt médecin
			ouvre ferme porte suit tient apporte quitte atteint garde tourne montre calme étroit large récent lointain commun double
			le la les un une chaque sur sous après avant sans entre visiteurs vue partager`),
		months:       strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
		weekdays:     strings.Fields("dimanche lundi mardi mercredi jeudi vendredi samedi"),
		dateForm:     "{d} {m} {y}",
		clockForm:    "15h04",
		numbered:     []string{"L'entrée coûte désormais %s", "Il faut installer la version %s", "Le comité a réservé %s au printemps"},
		dated:        []string{"La réunion a lieu le %s à la mairie", "L'offre prend fin le %s", "Elle fut fondée le %s par deux sœurs"},
		stampForms:   []string{"Mis à jour le %s", "Dernière mise à jour : %s", "Dernière modification : %s", "Actualisé %s"},
		agos:         []string{"il y a %d minutes", "il y a %d heures", "il y a %d jours"},
		viewForms:    []string{"%s vues", "Vues : %s", "%s lectures", "Lu %s fois"},
		adLabels:     []string{"Publicité", "Sponsorisé", "Annonce", "Publicité"},
		relatedForms: []string{"À lire aussi", "Articles similaires", "Les plus lus", "Sur le même sujet"},
		navWords:     strings.Fields("Accueil Politique Sport Culture Économie Voyage Sciences Débats Contact Boutique Aide Archives"),
		comments:     "%d commentaires", readMore: "Lire la suite", cookie: "Ce site utilise des cookies.", sitelink: "Mentions légales",
	},
	{
		code: "es", space: " ", stop: ".", decimal: ",", currency: "%s €",
		words: strings.Fields(`mercado puerto río consejo presupuesto escuela invierno motor señal jardín biblioteca ministro pregunta respuesta
			mañana tarde informe número calle pueblo puente carta ventana papel música estación tiempo historia isla valle bosque
			médico maestra abre cierra lleva sigue tiene trae deja alcanza guarda mueve gira muestra tranquilo temprano estrecho ancho
			reciente lejano común doble el la los un una cada sobre bajo después antes sin entre visitantes vista compartir`),
		months:       strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
		weekdays:     strings.Fields("domingo lunes martes miércoles jueves viernes sábado"),
		dateForm:     "{d} de {m} de {y}",
		clockForm:    "15:04",
		numbered:     []string{"La entrada cuesta ahora %s", "Hay que instalar la versión %s", "El comité reservó %s en primavera"},
		dated:        []string{"La reunión será el %s en el ayuntamiento", "La oferta termina el %s", "Fue fundada el %s por dos hermanas"},
		stampForms:   []string{"Última actualización: %s", "Actualizado %s", "Actualizado el %s", "Última modificación: %s"},
		agos:         []string{"hace %d minutos", "hace %d horas", "hace %d días"},
		viewForms:    []string{"%s visitas", "Visitas: %s", "%s lecturas", "Visto %s veces"},
		adLabels:     []string{"Publicidad", "Patrocinado", "Anuncio", "Publicidad"},
		relatedForms: []string{"Artículos relacionados", "También te puede interesar", "Lo más leído", "Más noticias"},
		navWords:     strings.Fields("Inicio Política Deportes Cultura Economía Viajes Ciencia Opinión Contacto Tienda Ayuda Archivo"),
		comments:     "%d comentarios", readMore: "Leer más", cookie: "Usamos cookies.", sitelink: "Aviso legal",
	},
	{
		code: "ja", space: "", stop: "。", decimal: ".", currency: "%s円",
		words: strings.Fields(`市場は 港の 川が 議会で 予算を 学校に 冬の 機関車が 信号と 庭で 図書館の 大臣が 質問を 答えた 朝の 夕方に 報告した 数が 通りを
			村の 橋が 手紙を 窓から 新聞に 音楽の 季節が 天気は 記録した 歴史を 島の 駅で 谷に 森の 医者が 教師は 開いた 閉めた 運んだ 続いた 静かな 早い
			狭い 広い 新しい 遠い 北の 銀の 二重の 共通の その この あの すべての`),
		months:       strings.Fields("1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月"),
		weekdays:     strings.Fields("日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日"),
		dateForm:     "{y}年{m}{d}日",
		clockForm:    "15:04",
		numbered:     []string{"入場料は%sになった", "最新の版は%sである", "委員会は%sを用意した"},
		dated:        []string{"会議は%sに開かれる", "募集は%sに終わる", "%sに二人の姉妹が創立した"},
		stampForms:   []string{"最終更新：%s", "更新日時 %s", "更新：%s", "最終更新日: %s"},
		agos:         []string{"%d分前", "%d時間前", "%d日前"},
		viewForms:    []string{"%s回閲覧", "閲覧数：%s", "%s 閲覧", "アクセス数 %s"},
		adLabels:     []string{"広告", "PR", "スポンサー", "広告"},
		relatedForms: []string{"関連記事", "おすすめ記事", "人気記事", "あわせて読みたい"},
		navWords:     strings.Fields("ホーム 政治 スポーツ 文化 経済 旅行 科学 意見 連絡先 店 ヘルプ 記録"),
		comments:     "コメント%d件", readMore: "続きを読む", cookie: "クッキーを使用しています。", sitelink: "プライバシー",
	},
}

var heldOutLanguages = []language{
	{
		code: "it", space: " ", stop: ".", decimal: ",", currency: "%s €",
		words: strings.Fields(`mercato porto fiume consiglio bilancio scuola inverno motore segnale giardino biblioteca ministro domanda risposta
			mattina sera rapporto numero strada villaggio ponte lettera finestra carta musica stagione tempo storia isola stazione valle
			bosco medico apre chiude porta segue tiene lascia raggiunge gira mostra quieto stretto largo recente lontano comune doppio
			il la un una ogni sopra sotto dopo prima senza tra`),
		months:       strings.Fields("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
		weekdays:     strings.Fields("domenica lunedì martedì mercoledì giovedì venerdì sabato"),
		dateForm:     "{d} {m} {y}",
		clockForm:    "15:04",
		numbered:     []string{"Il biglietto costa ora %s", "Bisogna installare la versione %s"},
		dated:        []string{"La riunione si tiene il %s in municipio", "L'offerta scade il %s"},
		stampForms:   []string{"Aggiornato %s", "Ultimo aggiornamento: %s", "Ultima modifica: %s"},
		agos:         []string{"%d minuti fa", "%d ore fa", "%d giorni fa"},
		viewForms:    []string{"%s visualizzazioni", "Visite: %s"},
		adLabels:     []string{"Pubblicità", "Sponsorizzato"},
		relatedForms: []string{"Leggi anche", "Articoli correlati"},
		navWords:     strings.Fields("Home Politica Sport Cultura Economia Viaggi Scienza Contatti Negozio Aiuto Archivio"),
		comments:     "%d commenti", readMore: "Continua", cookie: "Questo sito usa i cookie.", sitelink: "Note legali",
	},
	{
		code: "ru", space: " ", stop: ".", decimal: ",", currency: "%s ₽",
		words: strings.Fields(`рынок порт река совет бюджет школа зима двигатель сигнал сад библиотека министр вопрос ответ утро вечер отчёт число
			улица деревня мост письмо окно бумага музыка сезон погода история остров станция долина лес врач учитель открывает закрывает
			несёт следует держит оставляет достигает хранит показывает тихий ранний узкий широкий новый далёкий общий двойной каждый
			над под после перед без между`),
		months:       strings.Fields("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
		weekdays:     strings.Fields("воскресенье понедельник вторник среда четверг пятница суббота"),
		dateForm:     "{d} {m} {y}",
		clockForm:    "15:04",
		numbered:     []string{"Вход теперь стоит %s", "Нужно установить версию %s"},
		dated:        []string{"Собрание состоится %s в ратуше", "Предложение действует до %s"},
		stampForms:   []string{"Обновлено: %s", "Обновлено %s", "Последнее обновление: %s"},
		agos:         []string{"%d минут назад", "%d часов назад", "%d дней назад"},
		viewForms:    []string{"%s просмотров", "Просмотры: %s"},
		adLabels:     []string{"Реклама", "На правах рекламы"},
		relatedForms: []string{"Читайте также", "Похожие статьи"},
		navWords:     strings.Fields("Главная Политика Спорт Культура Экономика Наука Мнения Контакты Магазин Помощь Архив"),
		comments:     "%d комментариев", readMore: "Подробнее", cookie: "Мы используем cookie.", sitelink: "О сайте",
	},
}
