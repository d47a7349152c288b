package web

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

// A command whose input is not understood is not carried out: without its host, a retry would
// ask all hosts of the crawl.
func TestFormsThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	for _, c := range []struct {
		what, path, contentType, body string
		want                          string // of the answer
	}{
		{"JSON", "retry", "application/json", `{"host":"a.test"}`, `a body of the type "application/json"`},
		{"no type", "retry", "", "host=a.test", `a body of the type ""`},
		{"plain text", "retry", "text/plain", "host=a.test", `a body of the type "text/plain"`},
		{"in the address", "retry?host=a.test", form, "", `"host" in the address`},
		{"in the address, badly", "retry?host=%zz", form, "", "invalid URL escape"},
		{"misspelt", "retry", form, "hots=a.test", `the field "hots" cannot be understood: this command has host`},
		{"badly encoded", "retry", form, "host=%zz", "invalid URL escape"},
		{"a semicolon", "retry", form, "back=/;host=a.test", "invalid semicolon"},
		{"twice", "retry", form, "host=a.test&host=b.test", "it is given 2 times"},
		{"empty", "retry", form, "host=", "the field host cannot be understood: it is empty"},
		{"too long", "retry", form, "back=/" + strings.Repeat("x", formMost) + "&host=a.test", "more than 65536 bytes"},
		{"no field", "do/pause", form, "host=a.test", "this command has no fields"},
		{"of another command", "sinks/team/test", form, "after=c1.ab.7", "this command has no fields"},
		{"failed", "sinks/team/replay", form, "failed=0", "failed=0 cannot be understood: it is 1"},
		{"both", "sinks/team/replay", form, "failed=1&after=c1.ab.7", "one of these only"},
		{"neither", "sinks/team/replay", form, "", "one of these only"},
		{"an empty place", "sinks/team/replay", form, "after=", "it is empty"},
		{"a block", "hosts/a.test/block", form, "crawl=news", "this command has no fields"},
		{"a trap", "traps/a.test%2F/release", form, "all=1", "this command has no fields"},
		{"a page", "pages/1/visit-now", form, "for=1h", "this command has no fields"},
	} {
		w := newWorld(t)
		r := local(http.MethodPost, "/crawls/news/"+c.path, c.body)
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", c.contentType)
		got := w.do(r)
		text := strings.ReplaceAll(got.Body.String(), `\"`, `"`)
		if got.Code != http.StatusBadRequest || len(w.commands.calls) > 0 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d, calls %v, %s", c.what, got.Code, w.commands.calls, text)
		}
	}
}

// A command without a body may say any type, and forms may come in parts.
func TestFormsThatAreUnderstood(t *testing.T) {
	t.Parallel()
	var parts bytes.Buffer
	m := multipart.NewWriter(&parts)
	if err := m.WriteField("host", "a.test"); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ contentType, body, call string }{
		{"", "", `retry news ""`},
		{"application/json", "", `retry news ""`},
		{"application/x-www-form-urlencoded; charset=utf-8", "back=&host=a.test", `retry news "a.test"`},
		{m.FormDataContentType(), parts.String(), `retry news "a.test"`},
	} {
		w := newWorld(t)
		r := local(http.MethodPost, "/crawls/news/retry", c.body)
		r.Header.Set("Content-Type", c.contentType)
		if got := w.do(r); got.Code != http.StatusSeeOther || len(w.commands.calls) != 1 || w.commands.calls[0] != c.call {
			t.Errorf("%q %q: %d, calls %v", c.contentType, c.body, got.Code, w.commands.calls)
		}
	}
}

// A host is understood as the command understands it, and nothing is done to one that nobody can
// have, or that a crawl is said to have that does not exist.
func TestHostsThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodPost, "/crawls/news/hosts/a%20b/block", "", 400},
		{http.MethodPost, "/crawls/news/hosts/%20/block", "", 400},
		{http.MethodPost, "/crawls/news/hosts/a..test/unblock", "", 400},
		{http.MethodPost, "/crawls/nope/hosts/a.test/block", "", 404},
		{http.MethodPost, "/crawls/news/retry", "host=a+b", 400},
		{http.MethodGet, "/crawls/news/hosts/a%20b.json", "", 400},
		{http.MethodGet, "/crawls/news/hosts/a%20b/evidence.json", "", 400},
		{http.MethodGet, "/crawls/news/pages.json?host=a+b", "", 400},
		{http.MethodGet, "/crawls/news/changes.json?host=a+b", "", 400},
		{http.MethodGet, "/crawls/news/traps.json?host=%00", "", 400},
		{http.MethodGet, "/crawls/news/sources.json?host=https://A.test/", "", 200},
	} {
		w := newWorld(t)
		r := local(c.method, c.path, c.body)
		r.Header.Set("Accept", "application/json")
		if got := w.do(r); got.Code != c.want || len(w.commands.calls) > 0 {
			t.Errorf("%s %s: %d, want %d, calls %v, %s", c.method, c.path, got.Code, c.want, w.commands.calls, got.Body)
		}
	}
}

// A name that no crawl can have is not there, whatever the store would make of it.
func TestNamesThatNoCrawlCanHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reads(func(s report.Store) report.Store { return noNames{s} })
	for _, name := range []string{"%ff", "%00", "%20", "a%20b", "a%00b", "..%2Fnews", strings.Repeat("x", 5000)} {
		for _, rest := range []string{"", ".json", "/pages.json", "/live", "/changes.atom", "/pages/1/visits.json"} {
			if got := w.do(local(http.MethodGet, "/crawls/"+name+rest, "")); got.Code != http.StatusNotFound {
				t.Errorf("%.20s%s: %d %.200s", name, rest, got.Code, got.Body)
			}
		}
		if got := w.do(local(http.MethodPost, "/crawls/"+name+"/hosts/a.test/block", "")); got.Code != http.StatusNotFound {
			t.Errorf("block in %.20s: %d", name, got.Code)
		}
	}
}

// noNames is a store that fails whatever crawl it is asked for, as Postgres does for these names.
type noNames struct{ report.Store }

func (noNames) Crawl(context.Context, string) (store.CrawlRecord, error) {
	return store.CrawlRecord{}, errors.New("invalid byte sequence for encoding")
}

// An address that exists says which methods it takes.
func TestMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		method, path, allow string
		want                int
	}{
		{http.MethodPut, "/crawls/news", "GET, HEAD", 405},
		{http.MethodPost, "/crawls/news.json", "GET, HEAD", 405},
		{http.MethodDelete, "/", "GET, HEAD", 405},
		{http.MethodGet, "/crawls/news/do/pause", "POST", 405},
		{http.MethodPatch, "/crawls/news/retry", "POST", 405},
		{http.MethodPut, "/nowhere", "", 404},
		{http.MethodGet, "/nowhere", "", 404},
		{http.MethodHead, "/crawls/news", "", 200},
		{http.MethodHead, "/crawls/news/live", "", 200},
		{http.MethodHead, "/crawls/nope/live", "", 404},
	} {
		got := w.do(local(c.method, c.path, ""))
		if got.Code != c.want || got.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want %d, %q", c.method, c.path, got.Code, got.Header().Get("Allow"), c.want, c.allow)
		}
	}
}
