package change

import (
	"strings"
	"testing"
)

func TestHitsAreCounters(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"This page has been accessed 1,006 times.", "This page has been viewed 1006 times.", "This page has been viewed 1006 times since May 2009.",
		"This page was visited 1006 times", "The site has already been visited 1006 times!",
		"You are visitor number 1006", "You are visitor #1006", "You are visitor 1006.", "You are our 1006th visitor!", "Visitor #1006", "Visitor No. 1006",
		"Hit counter: 1006", "Counter: 1006", "Hit counter 1006",
		"Sie sind der 1006. Besucher", "Sie sind unser 1006. Besucher!", "Sie sind Besucher Nr. 1006", "Diese Seite wurde bereits 1006 Mal aufgerufen.",
		"Vous êtes le 1006e visiteur", "Vous êtes le 1006 ème visiteur.", "Cette page a été consultée 1006 fois.",
		"Eres el visitante 1006", "Esta página ha sido vista 1006 veces.", "Sei il visitatore numero 1006", "Questa pagina è stata letta 1006 volte.",
		"Você é o visitante número 1006", "U bent bezoeker nummer 1006", "Deze pagina is 1006 keer bekeken.", "Эту страницу просмотрели 1006 раз.",
	} {
		if next := strings.Replace(strings.Replace(line, "1006", "1007", 1), "1,006", "1,007", 1); next == line || !isNoise(line, next) {
			t.Errorf("%q to %q is an edit", line, next)
		}
	}
	for _, line := range []string{
		"This page has been viewed 1006 times more often than the other.", "The document was read 12 times in the court of Oslo.",
		"You are visitor 12 of 15 in this room.", "Visitor 12 rooms", "You are number 12.", "Visitor No. 12 was the Queen of Denmark.",
		"Sie sind der 12. Besucher dieser Ausstellung, der das fragt.", "This page has 12 sections.", "The file was opened 12 times by two people.",
		"As you know, this page has been viewed 12 times.",
	} {
		if next := strings.Replace(strings.Replace(line, "12", "14", 1), "1006", "1007", 1); isNoise(line, next) {
			t.Errorf("%q to %q is noise", line, next)
		}
	}
	if isNoise("This page has been read 12 times since 1990.", "This page has been read 13 times since 1991.") {
		t.Error("a year is noise")
	}
}

// TestWhoIsOnline: the lines of Joomla and Drupal that count who is there.
func TestWhoIsOnline(t *testing.T) {
	t.Parallel()
	for prev, next := range map[string]string{
		"We have 12 guests and no members online":           "We have one guest and no members online",
		"Aktuell sind 12 Gäste und keine Mitglieder online": "Aktuell sind 7 Gäste und ein Mitglied online",
		"Nous avons 12 invités et aucun membre en ligne":    "Nous avons un invité et 3 inscrits en ligne",
		"Hay 12 invitados y ningún miembro en línea":        "Hay 7 invitados y ningún miembro en línea",
		"Abbiamo 12 visitatori e nessun utente online":      "Abbiamo 7 visitatori e nessun utente online",
		"We hebben 12 gasten en geen leden online":          "We hebben één gast en geen leden online",
		"Temos 12 visitantes e Nenhum membro online":        "Temos 7 visitantes e Nenhum membro online",
		"Odwiedza nas 12 gości oraz 0 użytkowników.":        "Odwiedza nas 7 gości oraz 0 użytkowników.",
		"Сейчас на сайте 12 гостей и нет пользователей":     "Сейчас на сайте 1 гость и 2 пользователя",
		"There are currently 0 users and 12 guests online.": "There is currently 1 user and 1 guest online.",
		"There are currently 3 users online.":               "There are currently 0 users online.",
		"Posted 29 days ago":                                "Posted 30+ days ago",
	} {
		if !isNoise(prev, next) || !isNoise(next, prev) {
			t.Errorf("%q to %q is an edit", prev, next)
		}
	}
	for prev, next := range map[string]string{
		"We have 12 guests and no dogs": "We have 13 guests and no dogs",
		"There are currently 3 rooms":   "There are currently 2 rooms",
		"Hay 12 plazas en línea":        "Hay 13 plazas en línea",
	} {
		if isNoise(prev, next) {
			t.Errorf("%q to %q is noise", prev, next)
		}
	}
}
