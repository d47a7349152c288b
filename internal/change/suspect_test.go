package change

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// passage is a different text for each seed, of about a hundred words.
func passage(seed string) string {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(seed + string(rune('a'+i%26)) + string(rune('a'+i/26)) + " ")
		if i%20 == 19 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

func digestsOfText(text string) Digests {
	return Digests{Raw: "raw " + text, Text: CoreDigest(text), TextBytes: int64(len(text)), Sketch: NewSketch(text)}
}

func TestSuspectText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, text, want string }{
		{"Page Not Found | Example", "Sorry.", "page not found"},
		{"Example", "Shop\nOops! That page can’t be found.\nTry a search.", "page cant be found"},
		{"404", "Nothing here.", "404"},
		{"404 - Example", "Nothing here.", "404"},
		{"Not found", "", ""}, // no text at all, below
		{"Seite nicht gefunden", "Startseite", "seite nicht gefunden"},
		{"", "Diese Seite existiert nicht mehr.\nDiese Seite existiert nicht.", "seite existiert nicht"},
		{"Page introuvable - Exemple", "Retour", "page introuvable"},
		{"", "Une erreur s'est produite. Veuillez réessayer.", "une erreur sest produite"},
		{"Página no encontrada", "Inicio", "página no encontrada"},
		{"", "Página não encontrada", "página não encontrada"},
		{"", "Pagina niet gevonden", "pagina niet gevonden"},
		{"", "Strona nie została znaleziona.", "strona nie została znaleziona"},
		{"", "Страница не найдена", "страница не найдена"},
		{"", "お探しの情報はありません。ページは見つかりませんでした。", "ページは見つかりません"},
		{"", "抱歉，您访问的页面不存在", "页面不存在"},
		{"", "페이지를 찾을 수 없습니다.", "페이지를 찾을 수 없"},
		{"", "הדף לא נמצא", "הדף לא נמצא"},
		{"Access Denied", "You don't have permission to access this on this server.", "access denied"},
		{"Just a moment...", "Enable JavaScript and cookies to continue", "just a moment"},
		{"Making sure you're not a bot!", "Loading...\n" + passage("why"), "not a bot"},
		{"Pardon Our Interruption", passage("why"), "pardon our interruption"},
		{"Example", "Robot or human?\n" + passage("why"), "robot or human"},
		{"Client Challenge", passage("why"), "client challenge"},
		{"Example", "There has been a critical error on this website.", "critical error on this website"},
		{"Example", "Verify you are human by completing the action below.", "verify you are human"},
		{"Maintenance", "We are working on it.", "maintenance"},
		{"Wartung", "Wir sind gleich zurück.", "wartung"},
		{"", "The service is temporarily unavailable. Please try again later.", "try again later"},
		{"429", "Too Many Requests", "429"},
		{"", "Please log in to see this page.", "please log in"},
		{"Sign in · Example", "Username\nPassword\nForgot your password?", "sign in"},
		{"", "You can allow all of them, or just essential cookies.", "essential cookies"},
		{"Page not found", passage("word"), "page not found"},

		{"", passage("a") + "\nnothing to see\n", ""},
		{"Errors in measuring", "Measuring errors are small.", ""},
		{"Sorry: a novel", "A man comes home.", "sorry"}, // only later, should it be an edit
		{"Login Tips and More", "Choose a long password.", ""},
		{"Price list", "Apples cost 404 euro.", ""},
		{"A garden", "The house was under repair.\nNow roses grow there.", ""},
		// Text far down in a longer text is not the subject of the page.
		{"How the web works", strings.Repeat("A line that is about something else.\n", 40) + "Page not found", ""},
		{"Page not found", strings.Repeat("It goes on and on. ", 2000), ""},
	} {
		why, is := SuspectText(c.title, c.text)
		switch {
		case c.text == "":
			if !is || why.Code != CodeNothingLeft {
				t.Errorf("%q without a text: %v %+v", c.title, is, why)
			}
		case is != (c.want != "") || why.Text != c.want:
			t.Errorf("%q, %.60q: %v because of %q, want %q", c.title, c.text, is, why.Text, c.want)
		}
	}
}

// Every phrase of the lists is found where it is all that a page says, in capitals too.
func TestErrorWordsAreFound(t *testing.T) {
	t.Parallel()
	for _, list := range []string{errorPhraseLines, errorHeadingLines} {
		for line := range strings.Lines(list) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			for _, said := range []string{line, capital(line) + "!", strings.ReplaceAll(line, "'", "’")} {
				if errorWords("", said) == "" || errorWords(said, "Example") == "" {
					t.Errorf("%q says nothing", said)
				}
			}
		}
	}
	for _, phrase := range errorPhrases() {
		if words := plain(phrase); words != strings.TrimSpace(phrase) {
			t.Errorf("%q is not plain", phrase)
		}
	}
}

func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func TestLittleInCommon(t *testing.T) {
	t.Parallel()
	page, gone := digestsOfText(passage("word")), digestsOfText("Page not found")
	unknown := page
	unknown.Sketch = nil
	for name, c := range map[string]struct {
		prev, next Digests
		want       bool
	}{
		"an error instead":           {page, gone, true},
		"and back":                   {gone, page, true},
		"nothing instead":            {page, digestsOfText(""), true},
		"a little edit":              {page, digestsOfText(passage("word") + "more"), false},
		"half of it new":             {page, digestsOfText(passage("word") + passage("other")), false},
		"the same":                   {page, page, false},
		"the first copy":             {Digests{}, gone, false},
		"a page without a text":      {digestsOfText(""), gone, false},
		"an unknown sketch":          {unknown, gone, false},
		"an unknown sketch now":      {gone, unknown, false},
		"the same menu around both":  {digestsOfText(passage("menu") + passage("a") + passage("b")), digestsOfText(passage("menu") + "Page not found"), false},
		"a short footer around both": {digestsOfText(passage("a") + "About us and our terms"), digestsOfText("Page not found\nAbout us and our terms"), true},
	} {
		if got := LittleInCommon(c.prev, c.next); got != c.want {
			t.Errorf("%s: %v (resemblance %.2f)", name, got, c.prev.Sketch.Resemblance(c.next.Sketch))
		}
	}
}

// A few words where a long text was are suspect, whatever they say.
func TestSuspectShort(t *testing.T) {
	t.Parallel()
	long := digestsOfText(passage("word") + passage("other"))
	for _, said := range []string{
		"Nothing here.", "null", "{}", "x", "Backend fetch failed", "Guru Meditation", "Database connection failed",
		"Fatal error: Uncaught Error in /var/www/index.php:12", "Choose your country", "Are you over 18?", "Unsupported browser",
	} {
		next := digestsOfText(said)
		why, is := SuspectShort(long, next)
		if !LittleInCommon(long, next) || !is || why.Code != CodeLittleLeft || why.Num["text_bytes"] != float64(len(said)) {
			t.Errorf("%q: little in common %v, %v %+v", said, LittleInCommon(long, next), is, why)
		}
		if words, ok := Word(why); !ok || words == "" {
			t.Errorf("%+v has no words", why)
		}
	}
	for name, c := range map[string][2]Digests{
		"a short page before":       {digestsOfText(passage("a")[:400]), digestsOfText("x")},
		"a shorter text":            {long, digestsOfText(passage("c")[:280])},
		"another long text":         {long, digestsOfText(passage("c"))},
		"few words of a short page": {digestsOfText("In stock, and shipped today"), digestsOfText("Sold out")},
	} {
		if why, is := SuspectShort(c[0], c[1]); is {
			t.Errorf("%s: %+v", name, why)
		}
	}
}

func TestSuspectFront(t *testing.T) {
	t.Parallel()
	front := func(text string) FrontPage {
		d := digestsOfText(text)
		return FrontPage{URL: "https://a.test/", Text: d.Text, Sketch: d.Sketch}
	}
	for name, c := range map[string]struct {
		next  string
		front FrontPage
		want  bool
	}{
		"the same text":              {passage("front"), front(passage("front")), true},
		"yesterday's":                {passage("front") + passage("news")[:100], front(passage("front") + passage("olds")[:100]), true},
		"a short one, the same":      {"Welcome", front("Welcome"), true},
		"short ones":                 {"Welcome to you all", front("Welcome to you all today"), false},
		"another text":               {passage("other"), front(passage("front")), false},
		"a front page nobody knows":  {passage("other"), FrontPage{}, false},
		"nothing, and nobody knows":  {"", FrontPage{}, false},
		"a quarter of it":            {passage("front") + passage("a") + passage("b") + passage("c"), front(passage("front")), false},
		"a front page without words": {passage("front"), FrontPage{URL: "https://a.test/", Text: CoreDigest("")}, false},
	} {
		why, is := SuspectFront(digestsOfText(c.next), c.front)
		if is != c.want || is && (why.Code != CodeFrontPage || why.Text != "https://a.test/" || why.Num["resemblance"] < likeFrontPage) {
			t.Errorf("%s: %v %+v", name, is, why)
		}
	}
}

func TestSuspectRedirect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"https://a.test/news/1", "https://a.test/", CodeToFrontPage},
		{"https://a.test/news/1", "https://www.a.test/", CodeToFrontPage},
		{"http://a.test/news/1", "https://a.test/en/", CodeToFrontPage},
		{"https://a.test/news/1", "https://a.test/index.php", CodeToFrontPage},
		{"https://a.test/news/1", "https://a.test/login?next=/news/1", CodeToWall},
		{"https://a.test/news/1", "https://a.test/users/sign_in", CodeToWall},
		{"https://a.test/news/1", "https://login.b.test/x", CodeToWall},
		{"https://a.test/news/1", "https://sso.b.test/", CodeToWall},
		{"https://a.test/news/1", "https://a.test/default.aspx", CodeToFrontPage},
		{"https://a.test/news/1", "https://a.test/en/index.html", CodeToFrontPage},
		{"https://a.test/news/1", "https://a.test/start", CodeToFrontPage},
		{"https://a.test/news/1", "https://a.test/?error=404", CodeToError},
		{"https://a.test/news/1", "https://a.test/404", CodeToError},
		{"https://a.test/news/1", "https://a.test/404.html?from=/news/1", CodeToError},
		{"https://a.test/news/1", "https://a.test/error?aspxerrorpath=/news/1", CodeToError},
		{"https://a.test/news/1", "https://a.test/pages/oops.aspx?aspxerrorpath=/news/1", CodeToError},
		{"https://a.test/news/1", "https://www.a.test/sorry.html", CodeToError},
		{"https://a.test/news/1", "https://a.test/maintenance", CodeToError},
		{"https://a.test/news/1", "https://a.test/en/not-found/", CodeToError},
		{"https://a.test/news/1", "https://a.test/maintenance/plans", ""},
		{"https://a.test/news/1", "https://a.test/errors-in-print", ""},
		{"https://a.test/news/1", "https://a.test/news/1?code=200", ""},
		{"https://a.test/news/1", "https://a.test/en/news", ""},
		{"https://a.test/404", "https://a.test/error", ""},
		{"https://a.test/", "https://a.test/en/", ""},
		{"https://a.test/en", "https://a.test/de", ""},
		{"http://a.test/", "https://www.a.test/", ""},
		{"https://a.test/news/1", "https://b.test/", ""},
		{"https://a.test/news/1", "https://a.test/news/one", ""},
		{"https://a.test/news/1", "https://a.test/?id=1", ""},
		{"https://a.test/login", "https://a.test/signin", ""},
		{"https://a.test/news/1", "https://a.test/blogin", ""},
	} {
		from, to := mustURL(t, c.from), mustURL(t, c.to)
		why, is := SuspectRedirect(from, to)
		if why.Code != c.want || is != (c.want != "") || is && why.Text != to.String() {
			t.Errorf("%s to %s: %v %+v, want %q", c.from, c.to, is, why, c.want)
		}
	}
}

func mustURL(t *testing.T, text string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestNothingThatLastsIsMissed plays any visits of a page, some of which are suspect: a
// content found at two looks with no other content in between is a version at the second.
func TestNothingThatLastsIsMissed(t *testing.T) {
	t.Parallel()
	contents := []string{"page", "edit", "error", "wall"}
	suspicious := map[string]bool{"error": true, "wall": true}
	rapid.Check(t, func(t *rapid.T) {
		version, since, before := "page", 0, "page"
		for visit := 1; visit <= 20; visit++ {
			if rapid.IntRange(0, 4).Draw(t, "luck") == 0 { // nothing was seen
				settled, why := AfterSuspect(crawl.OutcomeFailed, since)
				if settled || why != nil {
					t.Fatal("a failure settled it")
				}
				continue
			}
			seen := rapid.SampledFrom(contents).Draw(t, "content")
			outcome := crawl.OutcomeUnchanged
			if seen != version {
				outcome = crawl.OutcomeChanged
				if suspicious[seen] {
					outcome, _ = Suspicion(outcome, crawl.Reason{Code: CodeErrorWords}, since)
				}
			}
			if outcome == crawl.OutcomeSuspect && seen == before && before != version {
				t.Fatalf("visit %d: %s is suspect for ever", visit, seen)
			}
			if outcome == crawl.OutcomeSuspect && !suspicious[seen] {
				t.Fatalf("visit %d: %s is suspect", visit, seen)
			}
			settled, why := AfterSuspect(outcome, since)
			if outcome == crawl.OutcomeSuspect {
				since = visit
			} else if since != 0 {
				if !settled || (len(why) == 1) != (outcome == crawl.OutcomeUnchanged) {
					t.Fatalf("%s after a suspect: settled %v, %+v", outcome, settled, why)
				}
				since = 0
			}
			if outcome == crawl.OutcomeChanged {
				version = seen
			}
			before = seen
		}
	})
}

func TestSuspicionSaysWhy(t *testing.T) {
	t.Parallel()
	why := crawl.Reason{Code: CodeNothingLeft}
	if outcome, reasons := Suspicion(crawl.OutcomeChanged, why, 0); outcome != crawl.OutcomeSuspect || len(reasons) != 1 || reasons[0].Code != CodeNothingLeft {
		t.Errorf("the first look: %s %+v", outcome, reasons)
	}
	if outcome, reasons := Suspicion(crawl.OutcomeRedirected, why, 7); outcome != crawl.OutcomeRedirected || len(reasons) != 2 || reasons[1].Code != CodeConfirmed || reasons[1].Num["visit"] != 7 {
		t.Errorf("the second look: %s %+v", outcome, reasons)
	}
	for outcome, settled := range map[crawl.Outcome]bool{
		crawl.OutcomeUnchanged: true, crawl.OutcomeCosmetic: true, crawl.OutcomeChanged: true, crawl.OutcomeRedirected: true, crawl.OutcomeGone: true,
		crawl.OutcomeFailed: false, crawl.OutcomeThrottled: false, crawl.OutcomeTimedOut: false, crawl.OutcomeExcluded: false, crawl.OutcomeSkipped: false,
		crawl.OutcomeUnsupported: false, crawl.OutcomeTooLarge: false,
	} {
		if got, _ := AfterSuspect(outcome, 3); got != settled {
			t.Errorf("%s settles it: %v", outcome, got)
		}
		if got, why := AfterSuspect(outcome, 0); got || why != nil {
			t.Errorf("%s settles nothing: %v %+v", outcome, got, why)
		}
	}
}

// BenchmarkSuspectText is of the longest text that is looked at from end to end.
func BenchmarkSuspectText(b *testing.B) {
	text := strings.Repeat("a short line of words\n", headedText/22)
	b.ReportAllocs()
	for b.Loop() {
		SuspectText("A title", text)
	}
}
