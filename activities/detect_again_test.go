package activities_test

import (
	"testing"

	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// A version in which an earlier release read no text does not change because this one does.
func TestWhatAnEarlierReleaseDidNotRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType, stored, body string
		outcome                   crawl.Outcome
		reasons                   string
	}{
		{"application/json", `{"price": 24}`, "{\"price\":\r\n24}", crawl.OutcomeCosmetic, "same-text"},
		{"application/json", `{"price": 24}`, `{"price": 31}`, crawl.OutcomeChanged, "text-differs beyond-noise"},
		{"application/xhtml+xml", `<body><div class="ad"/><p>Rain</p></body>`, `<body><div class="ad"/><p >Rain</p></body>`, crawl.OutcomeCosmetic, "same-text"},
		{"application/xhtml+xml", `<body><div class="ad"/><p>Rain</p></body>`, `<body><div class="ad"/><p>Sun</p></body>`, crawl.OutcomeChanged, "text-differs beyond-noise"},
		{"text/html", `<div id=app></div>`, `<div id=app>Rain</div>`, crawl.OutcomeChanged, "text-differs"},
		{"application/pdf", `%PDF-1.7 Rain`, `%PDF-1.7 Sun`, crawl.OutcomeChanged, "bytes-differ"},
	} {
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"})[0]
		first := w.detection(page, 1, c.stored)
		must[int64](t)(w.store.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{
			PageID: page.PageID, Visit: 1, At: first.Fetch.At, Digest: first.Fetch.Digest, Bytes: first.Fetch.Size, ContentType: c.contentType,
			TextDigest: change.CoreDigest(""), LinkDigest: change.LinkDigest(nil),
		}}))
		run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1, Fetch: first.Fetch})
		in := w.detection(page, 2, c.body)
		in.Fetch.ContentType = c.contentType
		if got := run(w, contract.DetectChange, in); got.Outcome != c.outcome || codes(got.Reasons) != c.reasons {
			t.Errorf("%s, %q after %q: %s because of %q, want %s because of %q", c.contentType, c.body, c.stored, got.Outcome, codes(got.Reasons), c.outcome, c.reasons)
		}
	}
}
