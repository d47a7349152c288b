package extract

import (
	"strings"
	"testing"
)

// longPage is a page of running text with something before its end.
func longPage(more string) string {
	return "<body><div id=app><div class=x1><h1>Opening hours</h1>" + strings.Repeat("<p>The museum is open from nine to five on every day but Monday, and the garden until dusk.", 12) +
		"</div>" + more + "</div>"
}

// A notice about cookies without a known class is recognised by its question.
func TestNoticesAreKnownByTheirButtons(t *testing.T) {
	want := parse(t, longPage("")).Text
	for name, notice := range map[string]string{
		"buttons": `<div class=css-1f><h2>Cookie Policy</h2><p>We use cookies, pixels and SDKs for the correct functioning of our website.</p>
			<button>Allow all</button><button>Only necessary</button></div>`,
		"links":    `<div><p>This site uses cookies. <a href=/p>Read more</a></p><a href=# role=button>Accept all cookies</a> <a href=#>Cookie settings</a></div>`,
		"nested":   `<section><div><span>Cookies</span> help us.</div><div><div role=button><span>Accept</span></div><div role=button><span>Decline</span></div></div></section>`,
		"German":   `<div><p>Wir verwenden Cookies, um die Seite zu verbessern.</p><button>Alle akzeptieren</button><button>Nur notwendige</button></div>`,
		"French":   `<div><p>Nous utilisons des cookies.</p><button>Tout accepter</button><button>Continuer sans accepter →</button></div>`,
		"Polish":   `<div><p>Używamy plików cookie.</p><button>Akceptuję</button><button>Ustawienia</button></div>`,
		"Russian":  `<div><p>Мы используем файлы cookie и куки.</p><button>Принять все</button><button>Отклонить</button></div>`,
		"Turkish":  `<div><p>Bu site çerez kullanır.</p><button>Tümünü kabul et</button><button>Reddet</button></div>`,
		"Japanese": `<div><p>当サイトではクッキーを使用します。</p><button>すべて許可</button><button>拒否する</button></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := parse(t, longPage(notice)).Text; got != want {
				t.Errorf("the text ends with %q", strings.TrimPrefix(got, want))
			}
		})
	}
}

// Text that only looks like a notice stays.
func TestWhatIsNoNoticeStays(t *testing.T) {
	for name, more := range map[string]string{
		"one answer":       `<div><p>We use cookies, 12 of them.</p><button>Got it</button></div>`,
		"another subject":  `<div><p>The ticket costs 12 euro.</p><button>Accept</button><button>Decline</button></div>`,
		"more than a word": `<div><p>Cookies cost 12 euro.</p><button>Accept the order</button><button>Reject the order</button></div>`,
		"an article":       `<article><p>Cookies cost 12 euro.</p><button>Accept</button><button>Reject</button></article>`,
		"around a notice":  `<div><p>The ticket costs 12 euro.</p><div><p>Cookies!</p><button>Accept</button><button>Reject</button></div></div>`,
		"a long text": `<div><p>12 euro</p>` + strings.Repeat("<p>Cookies are small texts that a site keeps in a browser, for a while or for long.", 30) +
			`<button>Accept</button><button>Reject</button></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := parse(t, longPage(more)).Text; !strings.Contains(got, "12") {
				t.Errorf("the text is %q", got)
			}
		})
	}
	t.Run("a page in one piece", func(t *testing.T) {
		page := `<body><h1>Ticket</h1><div><p>It costs 12 euro.</p><p>We use cookies.</p><button>Accept</button><button>Reject</button></div>`
		if got := parse(t, page).Text; !strings.Contains(got, "12 euro") {
			t.Errorf("the text is %q", got)
		}
	})
}

// Names of notices about cookies.
func TestNoticesAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hint{
		"govuk-cookie-banner": hintConsent, "gem-c-cookie-banner js-banner-wrapper": hintConsent, "cookieBanner": hintConsent, "cookies-eu-banner": hintConsent,
		"eu_cookie_compliance_popup": hintConsent, "CookieAlert": hintConsent, "cookiebanner": hintConsent, "site-cookieNotice": hintConsent,
		"cookie-bar-recipe": 0, "cookies": 0, "cookie-policy": 0, "tag-cookie-banner": 0, "alert": 0, "banner": 0,
	} {
		if got := classHintsOf(name); got != want {
			t.Errorf("%q: %b, want %b", name, got, want)
		}
	}
	for kind, notice := range map[string]string{
		"a button and more": `<div class=css-1f><p>We use cookies to make this site better for you and for others.</p><button>Accept</button><a href=c>Learn more</a></div>`,
		"a link in a box":   `<div id=cookie-box><p>This site uses cookies to make this site better for you and for others.</p><a href=#>OK</a></div>`,
		"in German":         `<div><p>Diese Seite verwendet Cookies, damit sie besser wird für alle, die sie lesen.</p><button>Verstanden</button> <a href=d>Mehr erfahren</a></div>`,
		"a choice by the law": `<div><p>We use some essential cookies to make this service work. We would like to set others, too.</p>
			<div><button>Accept analytics cookies</button><button>Reject analytics cookies</button><a href=c>View cookies</a></div></div>`,
		"buttons in a row": `<div><p>We use cookies to make this site better for you and for others.</p><div><button>Accept all cookies</button><button>Cookie settings</button></div></div>`,
	} {
		if got := parse(t, longPage(notice)).Text; got != parse(t, longPage("")).Text {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for kind, text := range map[string]string{
		"links in a text":   `<p>To delete cookies, open the <a href=e>Einstellungen</a> of 12 browsers. <a href=m>Mehr erfahren</a></p>`,
		"cookies to bake":   `<div><p>Cookies cost 12 euros.</p><button>Customize</button> <a href=m>Learn more</a></div>`,
		"cookies to order":  `<div class=cookie-order><p>Twelve cookies cost 12 euros.</p><button>Order now</button></div>`,
		"a text on cookies": `<div><p>Cookies cost 12 euros.</p><a href=m>Learn more</a> <a href=n>Read more</a></div>`,
	} {
		if got := parse(t, longPage(text)).Text; !strings.Contains(got, "12") {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
