package extract

import (
	"strings"
	"testing"
)

// Figures beside what people write, as on sites of Stack Exchange.
func TestVotesAndReputations(t *testing.T) {
	t.Parallel()
	body := "<h1>Title</h1><p>" + prose(1) + `<div itemprop=upvoteCount class="js-count fw">12</div><span class=reputation-score>1,234</span><span class=badgecount>3</span>`
	if got := parse(t, body).Text; got != "Title\n"+prose(1) {
		t.Errorf("%q", got)
	}
	if got := parse(t, "<h1>Title</h1><p>"+prose(1)+"<p class=vote-count>12 votes").Text; !strings.Contains(got, "12 votes") {
		t.Errorf("%q", got)
	}
}

// The time of day is another at each visit. That of an event is not.
func TestClocksByName(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"<p>" + prose(1) + "<div id=clock>14:05</div>":                     prose(1),
		"<p>" + prose(1) + "<span class=current_time>2:05 pm</span>":       prose(1),
		"<p>" + prose(1) + "<div class=clock>19:30</div>":                  prose(1) + "\n19:30",
		"<p>" + prose(1) + "<div id=clock>Clocks of Bern, from 12 €</div>": prose(1) + "\nClocks of Bern, from 12 €",
	} {
		if got := parse(t, body).Text; got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}
