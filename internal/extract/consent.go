package extract

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/net/html"
)

// A notice about cookies without a telling class is recognised by its question. It is the
// innermost element that speaks of cookies and holds two buttons or links whose whole text
// is an answer, or one such button beside a link that tells more, or one of these if its name
// is that of cookies. It may be a quarter of the page at most, so that a page in one piece loses
// nothing.

// consentAnswers is the least number of answers in a notice.
const consentAnswers = 2

// answers are the labels of buttons in notices about cookies, in lower case.
var answers = answersIn(`
		accept|accept all|accept cookies|accept all cookies|allow|allow all|allow cookies|allow all cookies|agree|i agree|i accept
		agree and close|accept and close|accept & close|accept and continue|got it|ok|reject|reject all|reject cookies|reject all cookies
		decline|decline all|decline cookies|deny|deny all|refuse|refuse all|disagree|do not accept|don't accept|only necessary
		necessary only|only necessary cookies|necessary cookies only|strictly necessary only|essential only|only essential
		essential cookies only|only essential cookies|accept necessary|accept only necessary|accept essential|accept selected
		allow selection|save preferences|manage cookies|manage preferences|manage options|manage settings|manage my choices
		cookie settings|cookies settings|cookie preferences|cookies preferences|privacy settings|privacy preferences|customize
		customise|customize cookies|customise cookies|more options|change settings|continue without accepting
		use necessary cookies only|reject non-essential|reject non-essential cookies|reject optional cookies|accept optional cookies
		accept additional cookies|reject additional cookies|accept analytics cookies|reject analytics cookies|view cookies|set cookie preferences
		akzeptieren|alle akzeptieren|alle cookies akzeptieren|cookies akzeptieren|zustimmen|allen zustimmen|alle zulassen|alle erlauben
		annehmen|alle annehmen|einverstanden|verstanden|ablehnen|alle ablehnen|cookies ablehnen|nur notwendige|nur notwendige cookies
		nur erforderliche|nur essenzielle|nur technisch notwendige|auswahl erlauben|auswahl speichern|einstellungen
		cookie-einstellungen|einstellungen verwalten|datenschutzeinstellungen|weiter ohne einwilligung|mehr optionen
		accepter|tout accepter|accepter tout|accepter et fermer|accepter les cookies|accepter tous les cookies|j'accepte|j’accepte
		autoriser|tout autoriser|refuser|tout refuser|refuser tout|refuser les cookies|refuser tous les cookies|je refuse
		continuer sans accepter|personnaliser|paramétrer|paramètres|paramétrer les cookies|gérer les cookies|gérer mes choix
		paramètres des cookies|préférences|en savoir plus et paramétrer|uniquement les cookies nécessaires
		aceptar|aceptar todo|aceptar todas|aceptar cookies|aceptar todas las cookies|aceptar y cerrar|acepto|permitir todas|rechazar
		rechazar todo|rechazar todas|rechazar cookies|rechazar todas las cookies|solo necesarias|solo las necesarias|configurar
		configurar cookies|configuración|configuración de cookies|gestionar cookies|personalizar|preferencias
		accetta|accetta tutto|accetta tutti|accetta i cookie|accetta tutti i cookie|accetto|acconsento|consenti tutti|rifiuta
		rifiuta tutto|rifiuta tutti|solo necessari|solo i necessari|continua senza accettare|personalizza|impostazioni
		impostazioni cookie|impostazioni dei cookie|gestisci i cookie|gestisci preferenze|preferenze
		aceitar|aceitar tudo|aceitar todos|aceitar cookies|aceitar todos os cookies|concordo|permitir todos|rejeitar|rejeitar tudo
		rejeitar todos|recusar|recusar tudo|recusar todos|apenas necessários|somente necessários|configurações
		configurações de cookies|definições de cookies|gerir cookies|gerenciar cookies|preferências
		accepteren|alles accepteren|alle cookies accepteren|cookies accepteren|akkoord|ik ga akkoord|alles toestaan|alle toestaan
		weigeren|alles weigeren|alle weigeren|afwijzen|alles afwijzen|alleen noodzakelijk|alleen noodzakelijke cookies
		instellingen|cookie-instellingen|cookies beheren|voorkeuren|instellingen aanpassen
		akceptuję|akceptuj|akceptuj wszystkie|akceptuję wszystkie|zaakceptuj wszystkie|zaakceptuj|zgadzam się|zezwól na wszystkie
		odrzuć|odrzuć wszystkie|odrzucam|tylko niezbędne|ustawienia|ustawienia cookie|ustawienia plików cookie|zarządzaj
		godkänn|godkänn alla|acceptera|acceptera alla|acceptera alla cookies|tillåt alla|avvisa|avvisa alla|neka|neka alla
		endast nödvändiga|bara nödvändiga|hantera cookies|inställningar|cookieinställningar
		accepter alle|acceptér alle|acceptér|tillad alle|tillad alle cookies|afvis|afvis alle|kun nødvendige|indstillinger
		godta|godta alle|aksepter|aksepter alle|tillat alle|avslå|avslå alle|kun nødvendige cookies|innstillinger
		hyväksy|hyväksy kaikki|hyväksy evästeet|hyväksy kaikki evästeet|salli kaikki|hylkää|hylkää kaikki|kiellä kaikki
		vain välttämättömät|evästeasetukset|asetukset
		přijmout|přijmout vše|přijmout všechny|souhlasím|povolit vše|odmítnout|odmítnout vše|pouze nezbytné|nastavení
		nastavení cookies|prijať všetko|súhlasím|odmietnuť všetko|nastavenia
		elfogadom|összes elfogadása|az összes elfogadása|elutasítom|összes elutasítása|beállítások|acceptă|acceptă tot|accept toate
		acceptă toate|refuz|respinge tot|respinge toate|setări|prihvati|prihvati sve|prihvaćam|odbij|odbij sve|postavke
		kabul et|tümünü kabul et|tüm çerezleri kabul et|reddet|tümünü reddet|çerez ayarları|ayarlar
		принять|принять все|принимаю|согласен|согласна|разрешить все|отклонить|отклонить все|отказаться|только необходимые|настроить
		настройки|настройки cookie|прийняти|прийняти всі|погоджуюсь|відхилити|відхилити всі|налаштування
		αποδοχή|αποδοχή όλων|απόρριψη|απόρριψη όλων|ρυθμίσεις|ρυθμίσεις cookies|приемам|приемам всички|отказвам|настройки на бисквитките
		同意|同意する|すべて同意|すべて同意する|許可|すべて許可|すべて許可する|受け入れる|すべて受け入れる|すべての cookie を受け入れる|拒否|拒否する|すべて拒否
		すべて拒否する|必須のみ|必要な cookie のみ|設定|cookie 設定|cookie の設定|接受|全部接受|接受全部|接受所有 cookie|接受所有cookie|同意并继续|拒绝
		全部拒绝|拒绝全部|仅必要|仅限必要|设置|cookie 设置|管理 cookie|接受所有|拒絕|全部拒絕|設定 cookie|동의|모두 동의|모두 허용|모두 수락|동의합니다|거부|모두 거부
		필수만 허용|설정|쿠키 설정`)

// furthers are the labels of links and buttons in such notices that tell more.
var furthers = answersIn(`
		learn more|more info|more information|read more|find out more|privacy policy|cookie policy|cookies policy|privacy notice|details|show details
		mehr erfahren|mehr infos|mehr informationen|weitere informationen|datenschutz|datenschutzerklärung|zur datenschutzerklärung
		en savoir plus|plus d'informations|plus d'infos|politique de confidentialité|politique de cookies
		más información|saber más|leer más|política de cookies|política de privacidad|maggiori informazioni|scopri di più|informativa|leggi di più
		saiba mais|mais informações|política de privacidade|meer informatie|meer weten|lees meer|privacyverklaring|cookiebeleid
		więcej informacji|dowiedz się więcej|polityka prywatności|polityka cookies|läs mer|mer information|læs mere|les mer|lue lisää|více informací
		viac informácií|további információ|bővebben|află mai multe|daha fazla bilgi|подробнее|политика конфиденциальности|детальніше|περισσότερα
		詳細|詳しくはこちら|プライバシーポリシー|了解更多|隐私政策|隱私權政策|자세히 보기|개인정보처리방침`)

// choices are answers that buttons elsewhere have, too.
var choices = answersIn(`
		customize|customise|more options|change settings|einstellungen|mehr optionen|personnaliser|paramétrer|paramètres|préférences|configurar|configuración
		personalizar|preferencias|personalizza|impostazioni|preferenze|configurações|preferências|instellingen|voorkeuren|ustawienia|zarządzaj|inställningar
		indstillinger|innstillinger|asetukset|nastavení|nastavenia|beállítások|setări|postavke|ayarlar|настроить|настройки|налаштування|ρυθμίσεις|設定|设置|설정`)

func answersIn(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for answer := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '|' || r == '\n' || r == '\t' }) {
			all[strings.TrimSpace(answer)] = true
		}
		delete(all, "")
		return all
	})
}

// maxAnswer is the longest answer, in bytes.
const maxAnswer = 64

// cookieWords are the words for cookies in many languages.
var cookieWords = []string{"ookie", "OOKIE", "クッキー", "쿠키", "куки", "Куки", "бисквитк", "çerez", "Çerez", "eväste", "Eväste"}

func mentionsCookies(text string) bool {
	for _, word := range cookieWords {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// isControl reports whether an element is a button or a link.
func isControl(n *html.Node) bool {
	if n.Data == "a" || n.Data == "button" {
		return true
	}
	role, _ := attribute(n.Attr, "role")
	return role == "button"
}

// labelOn returns the whole text of an element in lower case, without marks around it; "" if it is too long for an answer to a
// notice.
func labelOn(n *html.Node) string {
	const most = 16 // nodes
	text, nodes := make([]byte, 0, maxAnswer), 0
	var read func(n *html.Node) bool
	read = func(n *html.Node) bool {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			if nodes++; nodes > most || len(text)+len(child.Data) > maxAnswer && child.Type == html.TextNode {
				return false
			}
			if child.Type == html.TextNode {
				text = append(text, child.Data...)
			} else if !unseen[child.Data] && !read(child) {
				return false
			}
		}
		return true
	}
	if !read(n) {
		return ""
	}
	return strings.ToLower(collapse(strings.TrimFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) })))
}

// findNotice notes in the measure of a finished element whether it is a notice about cookies.
func (s *survey) findNotice(m *measure, n *html.Node) {
	// The answers of a notice come after its text.
	if s.total.cookies > 0 && m.answers == 0 && !m.further && m.units > 0 && m.units <= maxAnswer && isControl(n) {
		switch label := labelOn(n); {
		case answers()[label]:
			m.answers, m.pressed = 1, n.Data != "a" && !choices()[label]
			s.total.told -= m.told // a row of buttons is no notice alone
			m.told = 0
		case furthers()[label]:
			m.further = true
		}
	}
	if m.answers == 0 || m.noticed || m.cookies == 0 || m.units > maxConsent || m.article || m.heading {
		return
	}
	switch {
	case m.answers >= consentAnswers && (m.told > 0 || s.total.told == 0), m.told > 0 && m.pressed && m.further, m.told > 0 && isOfCookies(n):
		m.notice, m.noticed = true, true
	}
}

// isOfCookies reports whether a class or the id of an element names cookies.
func isOfCookies(n *html.Node) bool {
	found := false
	for _, a := range n.Attr {
		if a.Key == "class" || a.Key == "id" {
			for name := range strings.FieldsSeq(a.Val) {
				eachWord(name, func(word string, _ int) {
					found = found || strings.EqualFold(word, "cookie") || strings.EqualFold(word, "cookies")
				})
			}
		}
	}
	return found
}
