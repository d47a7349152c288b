package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"recrawl/internal/schedule"
)

// TestPoliciesDoc reads the specs in docs/policies.md as `starter crawl --spec` does.
func TestPoliciesDoc(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	specs := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(doc, -1)
	if len(specs) == 0 {
		t.Fatal("docs/policies.md has no spec")
	}
	for _, text := range specs {
		file := filepath.Join(t.TempDir(), "spec.yaml")
		whole := "name: a\nseeds: [https://example.com/]\n" + string(text[1])
		if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		spec, err := readSpec(file, nil)
		if err == nil {
			_, err = schedule.NewRules(spec.Revisit)
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, whole)
		}
	}
}
