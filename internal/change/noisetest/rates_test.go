package noisetest_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"golang.org/x/net/html"

	"recrawl/internal/change"
	"recrawl/internal/change/noisetest"
	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

// goal bounds the rates of false and of missed changes.
const goal = 0.02

// rates counts wrong verdicts by subject.
type rates map[string]*rate

type rate struct{ wrong, all int }

func (r rates) add(about string, wrong bool) {
	if r[about] == nil {
		r[about] = &rate{}
	}
	r[about].all++
	if wrong {
		r[about].wrong++
	}
}

func (r rates) of(about string) float64 { return float64(r[about].wrong) / float64(r[about].all) }

// The two rates that count.
const (
	falseChanges  = "false changes"
	missedChanges = "missed changes"
)

// measure judges pairs as a crawl without rules does.
func measure(tb testing.TB, heldOut bool, n int, seed uint64) rates {
	tb.Helper()
	all := rates{}
	for p := range noisetest.Pairs(heldOut, n, seed) {
		noise, _ := change.CompareRenderings(renderingOf(tb, p.Prev), renderingOf(tb, p.Next))
		about, wrong := falseChanges, !noise
		if p.Kind.IsEdit() {
			about, wrong = missedChanges, noise
		}
		all.add(about, wrong)
		all.add(string(p.Kind), wrong)
		all.add(fmt.Sprintf("%s (%s)", about, p.Template), wrong)
	}
	return all
}

func renderingOf(tb testing.TB, r noisetest.Rendering) change.Rendering {
	tb.Helper()
	return change.Rendering{Text: parse(tb, r.HTML).Text, At: r.At}
}

func parse(tb testing.TB, body []byte) extract.Page {
	tb.Helper()
	base, err := urlkey.Canonical("https://example.com/page")
	if err != nil {
		tb.Fatal(err)
	}
	page, err := extract.Parse(extract.Source{Body: body, ContentType: "text/html", URL: base}, extract.Rules{})
	if err != nil {
		tb.Fatal(err)
	}
	return page
}

func halves(heldOut bool) string {
	if heldOut {
		return "held out"
	}
	return "tuning"
}

// TestRates guards the rates that were reached. It does not say which pages of
// the held-out half were judged wrong: nobody is to tune the rules on them.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many pages")
	}
	t.Parallel()
	for _, heldOut := range []bool{false, true} {
		t.Run(halves(heldOut), func(t *testing.T) {
			t.Parallel()
			got := measure(t, heldOut, 10, 1)
			for _, about := range []string{falseChanges, missedChanges} {
				if r := got.of(about); r > goal {
					t.Errorf("%s: %.1f %%, at most %.0f %%", about, 100*r, 100*goal)
				}
			}
		})
	}
}

// BenchmarkRates prints the rates in percent, over ten thousand pairs.
func BenchmarkRates(b *testing.B) {
	for _, heldOut := range []bool{false, true} {
		b.Run(halves(heldOut), func(b *testing.B) {
			var got rates
			for b.Loop() {
				got = measure(b, heldOut, 45, 42)
			}
			for _, kind := range []string{falseChanges, missedChanges} {
				b.ReportMetric(100*got.of(kind), "%"+kind[:len(kind)-len(" changes")])
			}
			for _, kind := range append(noisetest.Noises[:len(noisetest.Noises):len(noisetest.Noises)], noisetest.Edits...) {
				if r := got.of(string(kind)); r > 0 {
					b.Logf("%-12s %5.2f %% of %d", kind, 100*r, got[string(kind)].all)
				}
			}
			if !heldOut {
				for about, r := range got {
					if r.wrong > 0 {
						b.Logf("%s: %d of %d", about, r.wrong, r.all)
					}
				}
			}
		})
	}
}

// BenchmarkDetection is the time of a page from bytes to a verdict, beside that
// of html.Parse on the same bytes in turn.
func BenchmarkDetection(b *testing.B) {
	var pages [][]byte
	for p := range noisetest.Pairs(false, 2, 3) {
		pages = append(pages, p.Next.HTML)
	}
	var yardstick, extraction, detection time.Duration
	i, size := 0, 0
	for b.Loop() {
		body := pages[i%len(pages)]
		i, size = i+1, size+len(body)
		start := time.Now()
		if _, err := html.Parse(bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
		yardstick += time.Since(start)
		start = time.Now()
		page := parse(b, body)
		extraction += time.Since(start)
		change.CoreDigest(page.Text)
		detection += time.Since(start)
	}
	b.ReportMetric(float64(extraction)/float64(yardstick), "extract/parse")
	b.ReportMetric(float64(detection)/float64(yardstick), "detect/parse")
	b.ReportMetric(float64(size)/float64(i), "B/page")
}
