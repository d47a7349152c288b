package extract

import "testing"

// TestLanguages: a language is read from where pages state it, and also if only a part of it is known.
func TestLanguages(t *testing.T) {
	t.Parallel()
	const german = `<meta http-equiv=content-language content=de>`
	for body, want := range map[string]string{
		`<html lang=de-DE-formal>`:      "de-DE",
		`<html lang=nl_NL_formal>`:      "nl-NL",
		`<html lang=pt-PT-ao90>`:        "pt-PT",
		`<html lang=de-ere>`:            "de",
		`<html lang=de-CH-1996>`:        "de-CH-1996",
		`<html lang=english>`:           "",
		`<html lang='lang="de-DE"'>`:    "",
		`<html lang='de of some kind'>`: "",
		`<html lang='{{page-lang}}'>`:   "",
		`<html lang=en>` + german:       "en",
		`<meta name=language content=fr><meta property=og:locale content=en_US>` + german:         "de",
		`<meta name=Language content=fr><meta property=og:locale content=en_US>`:                  "fr",
		`<meta name=DC.Language content=' fr '>`:                                                  "fr",
		`<meta property=og:locale content=''><meta property=og:locale content=es_CO>`:             "es-CO",
		`<meta property=og:locale:alternate content=es_CO><meta name=description content=fr>text`: "",
	} {
		for _, flat := range []bool{false, true} {
			page := body
			if flat {
				page = deep("") + body
			}
			if got := parse(t, page).Language; got != want {
				t.Errorf("%s, flat %t: %q, want %q", body, flat, got, want)
			}
		}
	}
	page, err := Parse(Source{Body: []byte(`<meta property=og:locale content=en_US>`), ContentType: "text/html", Language: "it", URL: mustURL(t, self)}, Rules{})
	if err != nil || page.Language != "it" {
		t.Errorf("beside a header: %q, %v", page.Language, err)
	}
}
