package config

import (
	"fmt"
	"slices"
	"strings"
)

// ourPrefix begins the names of our variables.
const ourPrefix = "RECRAWL_"

// readElsewhere are variables with that prefix that Load does not read.
func readElsewhere() []string {
	return []string{"RECRAWL_TEMPORAL_CLI", "RECRAWL_DB_PASSWORD", "RECRAWL_COMMIT", "RECRAWL_LONG", "RECRAWL_TRACES"}
}

// Misspelling is a variable that nobody reads, though its name is nearly that of a setting.
type Misspelling struct{ Given, Meant string }

func (m Misspelling) String() string {
	return fmt.Sprintf("the variable %s is not read: is %s meant?", m.Given, m.Meant)
}

// Misspelt returns the misspellings in an environment, as os.Environ has it. Without a word about
// them a setting would keep its default: RECRAWL_ENCRYPTION_KEY encrypts nothing.
func Misspelt(environ []string) []Misspelling {
	var given []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, ourPrefix) && value != "" {
			given = append(given, name)
		}
	}
	if len(given) == 0 {
		return nil
	}
	known := readElsewhere()
	_, _ = Load(func(name string) string { // nothing is set, so nothing is wrong
		known = append(known, name)
		return ""
	})
	var found []Misspelling
	for _, name := range given {
		if slices.Contains(known, name) || refersTo(environ, name) {
			continue
		}
		if meant := nearest(name, known); meant != "" {
			found = append(found, Misspelling{name, meant})
		}
	}
	return found
}

// refersTo reports whether a variable is the place of another one's secret.
func refersTo(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(pair string) bool { return strings.Contains(pair, "env:"+name) })
}

// nearest is the known name from which the fewest letters differ: two, or one of a short name. It
// is "" if there is none so near.
func nearest(name string, known []string) (meant string) {
	least := 3
	for _, k := range known {
		most := 2
		if len(k)-len(ourPrefix) < 5 {
			most = 1
		}
		if d := differing(name, k); d <= most && d < least {
			meant, least = k, d
		}
	}
	return meant
}

// differing is how many letters must be added, left out or replaced to make a of b.
func differing(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
