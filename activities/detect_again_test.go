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

// What a reader sees and the words of the text do not say is a change too.
func TestDetectChangeBesideTheText(t *testing.T) {
	t.Parallel()
	const same, title, looks = "same-text", "title-differs same-text", "looks-differ same-text"
	for _, c := range []struct{ before, after, reasons string }{
		{"<title>Flight 12 gate 24</title><p>On time.", "<title>Flight 12 gate 31</title><p>On time.", title},
		{"<title>Boats, 12 users online</title><p>On time.", "<title>Boats, 14 users online</title><p>On time.", same},
		{"<title>Flight</title><p>On time.", "<p>On time.", same},
		{"<table><tr><th>Lift<td><td>yes</table>", "<table><tr><th>Lift<td>yes<td></table>", looks},
		{"<table><tr><th>Lift<td><td><img src=x></table>", "<table><tr><th>Lift<td><img src=x><td></table>", looks},
		{"<table><tr><th>Lift<td><td>yes</table>", "<table class=x><tr><th>Lift<td> <td>yes</table>", same},
		{"<pre>if a:\n  b\n  c</pre>", "<pre>if a:\n  b\nc</pre>", looks},
		{"<pre>if a:\n  b\n  c</pre>", "<pre>\n if a:\n   b\n   c\n</pre>", same},
		{"<p>Concert on 4 May, film on 5 May.", "<p>Concert on 4 May, <del>film on 5 May</del>.", looks},
		{"<p>Call <a href='tel:5550100'>us</a>.", "<p>Call <a href='tel:5550199'>us</a>.", looks},
		{"<p>Ask <a href='mailto:a@b.example?subject=1'>us</a>.", "<p>Ask <a href='mailto:a@b.example?subject=2'>us</a>.", same},
		{"<p>It takes 10<sup>6</sup> years.", "<p>It takes 106 years.", looks},
		{"<p><del>Closed on Monday.</del> Open.", "<p>Closed on Monday. Open.", looks}, // the last of them
		{"<p>Tasks<ul><li><input type=checkbox disabled> Paint</ul>", "<p>Tasks<ul><li><input type=checkbox disabled checked> Paint</ul>", looks},
		{"<p>Ticket<form><input type=submit value='Buy for 10 €'></form>", "<p>Ticket<form><input type=submit value='Buy for 12 €'></form>", looks},
		{"<p>Ticket<form><input type=hidden name=token value=1f></form>", "<p>Ticket<form><input type=hidden name=token value=2e></form>", same},
		{"<p>Energy <img src=1.png alt='E = mc^2'>", "<p>Energy <img src=2.png alt='E = mc^3'>", looks},
		{"<p>Photo <img src=1.png alt='2 views'>", "<p>Photo <img src=2.png alt='3 views'>", same},
		// Noise does not hide it, whether it is recognised by the words alone or by the clock.
		{"<p>12 views<p>Now <s>10 €</s> 12 €", "<p>14 views<p>Now 10 € <s>12 €</s>", looks},
		{"<p>12 views<p>Now <s>10 €</s> 12 €", "<p>1,234 views<p>Now <s>10 €</s> 12 €", same},
	} {
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"})[0]
		w.seen(page, 1, c.before)
		want := crawl.OutcomeCosmetic
		if c.reasons != same {
			want = crawl.OutcomeChanged
		}
		if got := run(w, contract.DetectChange, w.detection(page, 2, c.after)); got.Outcome != want || codes(got.Reasons) != c.reasons || got.Returned {
			t.Errorf("%q after %q: %s because of %q, want %s because of %q", c.after, c.before, got.Outcome, codes(got.Reasons), want, c.reasons)
		}
	}
}
