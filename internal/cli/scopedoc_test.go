package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"recrawl/internal/scope"
	"recrawl/internal/urlkey"
)

var (
	docSpec    = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$(.*?)(^```yaml|^## |\\z)")
	docVerdict = regexp.MustCompile("(?m)^\\| `([^`]+)`(?: at level (\\d+))?(?:, hops (\\d+))?(?:, language (\\S+))? \\| (accepted|rejected): (.+) \\|$")
)

// TestScopeDoc judges the URLs of docs/scope.md by the specs above them.
func TestScopeDoc(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/scope.md")
	if err != nil {
		t.Fatal(err)
	}
	specs, verdicts := 0, 0
	for rest := string(doc); ; {
		at := docSpec.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		specs++
		verdicts += checkDocTable(t, rest[at[2]:at[3]], rest[at[4]:at[5]])
		rest = rest[at[6]:]
	}
	if specs != strings.Count(string(doc), "```yaml") || verdicts != strings.Count(string(doc), "\n| `") {
		t.Errorf("%d specs and %d verdicts were found, which are not all", specs, verdicts)
	}
}

func checkDocTable(t *testing.T, spec, table string) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := readSpec(file, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, spec)
	}
	limits, err := scope.New(parsed, docPrograms{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, spec)
	}
	rows := docVerdict.FindAllStringSubmatch(table, -1)
	for _, row := range rows {
		u, err := urlkey.Canonical(row[1])
		if err != nil {
			t.Fatal(err)
		}
		link := scope.Link{URL: u, Level: 1, Hops: limits.Hops(u, 0), Language: row[4]}
		if row[2] != "" {
			link.Level, _ = strconv.Atoi(row[2])
		}
		if row[3] != "" {
			link.Hops, _ = strconv.Atoi(row[3])
		}
		if v := limits.Check(link); v.Accept != (row[5] == "accepted") || v.Reason != row[6] {
			t.Errorf("%s: %+v, the page says %s: %s", row[1], v, row[5], row[6])
		}
	}
	return len(rows)
}

// docPrograms is the program of the page: it knows two words.
type docPrograms struct{}

func (docPrograms) Ask(_ string, u urlkey.URL) scope.Answer {
	if strings.Contains(u.String(), "casino") {
		return scope.Answer{Reason: "gambling"}
	}
	return scope.Answer{Accept: true}
}
