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
