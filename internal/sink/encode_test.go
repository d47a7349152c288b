package sink

import (
	"bytes"
	"testing"
	"time"

	"recrawl/internal/feed"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	e := feed.Event{V: feed.EventVersion, ID: "5f2a9c01.7", Kind: feed.PageNew, Page: &feed.EventPage{ID: 1, URL: "https://a.example/?a=1&b=<2>", Title: "a\nb\u2028c"}}
	got, err := EncodeEvent(e)
	if err != nil || bytes.ContainsAny(got, "\n\u2028") || !bytes.Contains(got, []byte(`"url":"https://a.example/?a=1&b=<2>"`)) {
		t.Errorf("%s, %v", got, err)
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	got, err = EncodeDigest(Digest{ID: "5f2a9c01.1-7", Crawl: "news", Sink: "team", From: at, To: at.Add(time.Hour), Left: 2})
	want := `{"v":1,"digest":{"id":"5f2a9c01.1-7","crawl":"news","sink":"team","from":"2026-11-23T12:00:00Z","to":"2026-11-23T13:00:00Z","events":[],"left":2}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
