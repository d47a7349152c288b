package extract

import "testing"

// articleCase is a page with its article.
type articleCase struct{ name, body, want string }

func checkArticles(t *testing.T, cases []articleCase) {
	t.Helper()
	for _, c := range cases {
		if got := articleOf(t, c.body); got != c.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", c.name, c.body, got, c.want)
		}
	}
}

// TestArticleOfQuestions: a button that opens an answer says what that is about.
func TestArticleOfQuestions(t *testing.T) {
	t.Parallel()
	const share = "<button aria-expanded=false>Share</button>"
	answer := "<div class=panel id=a><p>" + prose(9) + "</p></div>"
	checkArticles(t, []articleCase{
		{"in a heading", "<main>" + story + "<h2><button>What does it cost?</button></h2>" + answer + "</main>", told + "\nWhat does it cost?\n" + prose(9)},
		{"in a term", "<main>" + story + "<dl><dt><button>What does it cost?</button></dt><dd>" + prose(9) + "</dd></dl></main>", told + "\nWhat does it cost?\n" + prose(9)},
		{"before its answer", "<main>" + story + "<button aria-expanded=false>What does it cost?</button>" + answer + "</main>", told + "\nWhat does it cost?\n" + prose(9)},
		{"in a box of its own", "<main>" + story + "<div><span><button aria-controls=a>What does it cost?</button></span></div>" + answer + "</main>", told + "\nWhat does it cost?\n" + prose(9)},
		// Others are no text.
		{"beside a heading's words", "<main>" + story + "<h2>Costs <button>Copy the link</button></h2>" + answer + "</main>", told + "\nCosts\n" + prose(9)},
		{"for something else", "<main>" + story + "<button aria-controls=menu>Share</button>" + answer + "</main>", told + "\n" + prose(9)},
		{"before a paragraph", "<main>" + share + story + "</main>", told},
		{"before nothing", "<main>" + story + share + "</main>", told},
	})
}
