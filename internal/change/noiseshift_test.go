package change

import (
	"strings"
	"testing"
	"time"
)

// A list of dates that moves as a whole is shown in another time zone; anything less
// is an edit.
func TestDatesThatMoveTogether(t *testing.T) {
	t.Parallel()
	const versions = "Changelog\n25 nov. 2021\n29 oct. 2021\n1 juin 2021\nRules for all."
	cases := []struct {
		name, prev, next string
		noise            bool
	}{
		{"a day back", versions, "Changelog\n24 nov. 2021\n28 oct. 2021\n31 mai 2021\nRules for all.", true},
		{"one moves the other way", versions, "Changelog\n24 nov. 2021\n30 oct. 2021\n31 mai 2021\nRules for all.", false},
		{"one stays", versions, "Changelog\n24 nov. 2021\n29 oct. 2021\n31 mai 2021\nRules for all.", false},
		{"the first stays", versions, "Changelog\n25 nov. 2021\n28 oct. 2021\n31 mai 2021\nRules for all.", false},
		{"one more stays", versions + "\n4 août 2020", "Changelog\n24 nov. 2021\n28 oct. 2021\n31 mai 2021\nRules for all.\n4 août 2020", false},
		{"a word too", versions, "Changelog\n24 nov. 2021\n28 oct. 2021\n31 mai 2021\nRules for some.", false},
		{"a line more", versions, "Changelog\n24 nov. 2021\n28 oct. 2021\n31 mai 2021\nRules for all.\nAnd more.", false},
		{"two days", versions, "Changelog\n23 nov. 2021\n27 oct. 2021\n30 mai 2021\nRules for all.", false},
		{"two dates", "25 nov. 2021\n29 oct. 2021", "24 nov. 2021\n28 oct. 2021", false},
		{"events to come", "4 March 2031\nRun\n5 March 2031\nSwim\n6 March 2031\nRide", "5 March 2031\nRun\n6 March 2031\nSwim\n7 March 2031\nRide", false},
		{"one event to come", "4 March 2021\nRun\n5 March 2021\nSwim\n6 March 2031\nRide", "5 March 2021\nRun\n6 March 2021\nSwim\n7 March 2031\nRide", false},
		{"in sentences", "We met on 4 March 2021.\nWe met on 5 March 2021.\nWe met on 6 March 2021.", "We met on 5 March 2021.\nWe met on 6 March 2021.\nWe met on 7 March 2021.", false},
		{"beside words", "Run on 4 March 2021\nSwim on 5 March 2021\nRide on 6 March 2021", "Run on 5 March 2021\nSwim on 6 March 2021\nRide on 7 March 2021", false},
		{"times of day", "2021-03-04 23:30\na\n2021-03-05 10:00\nb\n2021-03-06 11:15", "2021-03-05 05:30\na\n2021-03-05 16:00\nb\n2021-03-06 17:15", true},
		{"times by halves of a day", "4 March 2021, 11:30 PM\n5 March 2021, 12:10 AM\n6 March 2021, 1:00 PM", "5 March 2021, 12:30 AM\n5 March 2021, 1:10 AM\n6 March 2021, 2:00 PM", true},
		{"times by a minute", "2021-03-04 23:30\na\n2021-03-05 10:00\nb\n2021-03-06 11:15", "2021-03-04 23:31\na\n2021-03-05 10:01\nb\n2021-03-06 11:16", false},
		{"days or months first", "03/04/2021\n09/04/2021\n17/04/2021", "02/04/2021\n08/04/2021\n16/04/2021", true},
		{"the last days", "4 April 2021\n3 April 2021\n2 April 2021", "5 April 2021\n4 April 2021\n3 April 2021", false},
		{"months", "2021-03-04\n2021-04-04\n2021-05-04", "2021-04-04\n2021-05-04\n2021-06-04", false},
		{"other calendars", "4 مهر 1400\n5 مهر 1400\n6 مهر 1400", "5 مهر 1400\n6 مهر 1400\n7 مهر 1400", false},
		{"versions", "1.2.3\n1.2.4\n1.2.5", "1.2.4\n1.2.5\n1.2.6", false},
	}
	for _, c := range cases {
		for _, pair := range [][2]string{{c.prev, c.next}, {c.next, c.prev}} {
			noise, reasons := CompareRenderings(Rendering{pair[0], at}, Rendering{pair[1], at.Add(6 * time.Hour)})
			if noise != c.noise {
				t.Errorf("%s: noise is %v: %+v", c.name, noise, reasons)
			}
			if unknown, _ := CompareRenderings(Rendering{Text: pair[0]}, Rendering{Text: pair[1]}); unknown {
				t.Errorf("%s: noise, though nobody knows what is past", c.name)
			}
		}
	}
	_, reasons := CompareRenderings(Rendering{versions, at}, Rendering{strings.ReplaceAll(strings.ReplaceAll(versions, "25 nov", "24 nov"), "all.", "some."), at})
	if got := reasons[0].Num["same_words"]; got != 1 {
		t.Errorf("%v words before the first difference", got)
	}
}
