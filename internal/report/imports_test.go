package report

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/store"
)

// A status says how far imports have come that are not complete.
func TestUnfinishedImports(t *testing.T) {
	t.Parallel()
	f := sample()
	f.imports = []store.ImportRecord{
		{Source: "list", Import: store.Import{Entries: 120_000, New: 90_000, Known: 20_000}, At: now.Add(-3 * time.Minute)},
		{Source: "old", Import: store.Import{Entries: 1}, At: now.Add(-50 * time.Hour)},
	}
	status := func(format Format) string {
		var out strings.Builder
		if err := (Reporter{Store: f, Deliveries: f, Imports: f, Out: &out, Format: format}).Status(t.Context(), "news"); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if strings.Contains(status(Text), "entries so far") {
		t.Error("a crawl that never had an import is asked for some")
	}
	for i := range f.crawls {
		f.crawls[i].Imported = true
	}
	for _, want := range []string{"120000 entries so far, the last 3m ago", "1 entry so far, the last 2d 2h ago"} {
		if text := status(Text); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if want, text := `"imports":[{"entries":120000,"new":90000,"known":20000,"at":"`, status(JSON); !strings.Contains(text, want) {
		t.Errorf("no %s in %s", want, text)
	}
}
