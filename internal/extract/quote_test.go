package extract

import "testing"

// TestQuotes: the quotation marks that browsers show are in the text, once.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<p>He said <q>no</q>.`:                            `He said "no".`,
		`<p>He said <q>she said <q>no</q>, or so</q>.`:     `He said "she said 'no', or so".`,
		`<p>He said <q>“no”</q> and "<q>yes</q>".`:         `He said “no” and "yes".`,
		`<p>He said <q><b>no</b></q> and <q></q>nothing.`:  `He said "no" and nothing.`,
		`<p>He <a href=x>said</a><q cite=y>no</q> to <q>I`: `He said "no" to "I"`,
	} {
		if page := parse(t, body); page.Text != want {
			t.Errorf("%s: %q, want %q", body, page.Text, want)
		}
		checkWords(t, body, Rules{})
	}
	if got, want := markdown(t, `<p>He said <q>no</q>.`, ReadMain).Body, "He said \"no\".\n"; got != want {
		t.Errorf("Markdown %q, want %q", got, want)
	}
}
