package webhook

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// Secrets of the tests.
const (
	newSecret = "whsec_bmV3IHNlY3JldCBvZiB0aGUgdGVzdHMgb2Ygd2ViaG9va3M="
	oldSecret = "whsec_b2xkIHNlY3JldCBvZiB0aGUgdGVzdHMgb2Ygd2ViaG9va3M="
)

// received is a request as a receiver saw it.
type received struct {
	header http.Header
	path   string
	body   []byte
}

// receiver is a real server that keeps what it gets.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []received
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// listen starts a receiver that answers like the handler; nil answers 204.
func listen(t *testing.T, secure bool, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.got = append(r.got, received{req.Header.Clone(), req.URL.RequestURI(), body})
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, req)
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		r.EnableHTTP2 = true
		r.StartTLS()
	} else {
		r.Start()
	}
	t.Cleanup(r.Close)
	return r
}

// environment makes a worker's environment from pairs.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var secrets = environment("NEW", newSecret, "OLD", oldSecret)

// sender makes one for a receiver on this machine.
func sender(t *testing.T, spec crawl.SinkSpec, o Options, at *receiver) *Sender {
	t.Helper()
	spec.Kind, spec.AllowPrivate = "webhook", true
	if spec.To == "" {
		spec.To = at.URL + "/hooks/recrawl"
	}
	if o.Getenv == nil {
		o.Getenv = secrets
	}
	if at != nil && at.TLS != nil {
		o.RootCAs = x509.NewCertPool()
		o.RootCAs.AddCert(at.Certificate())
	}
	s, err := New(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// change is an event with everything that a change of a page has.
func change() feed.Event {
	return feed.Event{
		V: feed.EventVersion, ID: "5f2a9c01.4711", Cursor: feed.Cursor{Epoch: "5f2a9c01", ID: 4711}, Kind: feed.PageChanged, At: noon, Crawl: "news",
		Page:    &feed.EventPage{ID: 12, URL: "https://news.example/prices?a=1&b=2", Host: "news.example", Title: "Prices & fees", Was: crawl.Active, State: crawl.Active},
		Visit:   7,
		Status:  200,
		Version: &feed.EventVersionOf{Seq: 3, At: noon, Digest: strings.Repeat("ab", 32), Bytes: 4096, ContentType: "text/html", Title: "Prices & fees", Language: "en"},
		Before:  &feed.EventVersionOf{Seq: 2, At: noon.Add(-24 * time.Hour), Title: "Prices"},
		Diff:    &feed.EventDiff{WordsAdded: 4, WordsRemoved: 3, Added: []string{"A ticket costs 12 €", "Children pay half"}, Removed: []string{"A ticket costs 10 €"}},
	}
}

func digest(n int) sink.Digest {
	d := sink.Digest{ID: "5f2a9c01.4700-4800", Crawl: "news", Sink: "team", From: noon.Add(-time.Hour), To: noon, Left: 2}
	for i := range n {
		e := change()
		e.ID = fmt.Sprintf("5f2a9c01.%d", 4700+i)
		e.Page.Title = fmt.Sprintf("Page %d", i)
		d.Events = append(d.Events, e)
	}
	return d
}

// verified checks a request by the reference library.
func verified(t *testing.T, secret string, r received) error {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return w.Verify(r.body, r.header)
}

// Messages pass the reference library, in all formats, by HTTP/1 and HTTP/2, with each of
// two secrets, and with no other.
func TestSignaturesVerify(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		for _, secure := range []bool{false, true} {
			r := listen(t, secure, nil)
			spec := crawl.SinkSpec{Format: format, Secret: "env:NEW env:OLD"}
			if format == "ntfy" {
				spec.To = r.URL + "/topic"
			}
			s := sender(t, spec, Options{}, r)
			if err := s.Send(t.Context(), change()); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if err := s.SendDigest(t.Context(), digest(3)); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			got := r.all()
			if len(got) != 2 {
				t.Fatalf("%s: %d requests", format, len(got))
			}
			for i, id := range []string{change().ID, digest(3).ID} {
				if have := got[i].header.Get("webhook-id"); have != id {
					t.Errorf("%s: webhook-id %q, want %q", format, have, id)
				}
				for secret, want := range map[string]bool{newSecret: true, oldSecret: true, "whsec_" + strings.Repeat("QUFB", 8): false} {
					if err := verified(t, secret, got[i]); (err == nil) != want {
						t.Errorf("%s, %s: %v", format, secret, err)
					}
				}
			}
		}
	}
}

func TestWithoutASecret(t *testing.T) {
	t.Parallel()
	r := listen(t, false, nil)
	if err := sender(t, crawl.SinkSpec{}, Options{UserAgent: "recrawl/1"}, r).Send(t.Context(), change()); err != nil {
		t.Fatal(err)
	}
	h := r.all()[0].header
	if h.Get("webhook-id") == "" || h.Get("webhook-timestamp") == "" || h.Get("webhook-signature") != "" || h.Get("User-Agent") != "recrawl/1" || h.Get("Content-Type") != "application/json" {
		t.Errorf("%v", h)
	}
	if _, ok := h["Idempotency-Key"]; ok {
		t.Error("a header is sent that is for net/http alone")
	}
	var e feed.Event
	if err := json.Unmarshal(r.all()[0].body, &e); err != nil || e.ID != change().ID || e.Page.URL != change().Page.URL {
		t.Errorf("%+v, %v", e, err)
	}
}

// A second try has the id and the body of the first, and a time and signature of its own.
func TestRetryKeepsTheID(t *testing.T) {
	t.Parallel()
	status := http.StatusServiceUnavailable
	r := listen(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	now := time.Now()
	s := sender(t, crawl.SinkSpec{Secret: "env:NEW"}, Options{Now: func() time.Time { return now }}, r)
	var later *sink.Later
	if err := s.Send(t.Context(), change()); !errors.As(err, &later) {
		t.Fatalf("%v", err)
	}
	status, now = http.StatusOK, now.Add(7*time.Second)
	if err := s.Send(t.Context(), change()); err != nil {
		t.Fatal(err)
	}
	first, second := r.all()[0], r.all()[1]
	if string(first.body) != string(second.body) || first.header.Get("webhook-id") != second.header.Get("webhook-id") {
		t.Errorf("%+v\n%+v", first, second)
	}
	for _, name := range []string{"webhook-timestamp", "webhook-signature"} {
		if first.header.Get(name) == second.header.Get(name) {
			t.Errorf("both tries have the same %s", name)
		}
	}
	for _, got := range []received{first, second} {
		if err := verified(t, newSecret, got); err != nil {
			t.Error(err)
		}
	}
}

// Secrets are read for each try: one that is replaced in its file counts from then on.
func TestRotation(t *testing.T) {
	t.Parallel()
	r := listen(t, false, nil)
	path := filepath.Join(t.TempDir(), "secret")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(oldSecret)
	s := sender(t, crawl.SinkSpec{Secret: "file:" + path}, Options{}, r)
	for _, secret := range []string{oldSecret, newSecret} {
		write(secret)
		if err := s.Send(t.Context(), change()); err != nil {
			t.Fatal(err)
		}
		all := r.all()
		if err := verified(t, secret, all[len(all)-1]); err != nil {
			t.Error(err)
		}
	}
}

// The address may be kept out of the spec like a secret.
func TestAddressByName(t *testing.T) {
	t.Parallel()
	r := listen(t, false, nil)
	s := sender(t, crawl.SinkSpec{To: "env:HOOK"}, Options{Getenv: environment("HOOK", r.URL+"/services/T0/B0")}, nil)
	if err := s.Send(t.Context(), change()); err != nil {
		t.Fatal(err)
	}
	if got := r.all()[0].path; got != "/services/T0/B0" {
		t.Error(got)
	}
	s = sender(t, crawl.SinkSpec{To: "env:HOOK"}, Options{Getenv: environment("HOOK", "postgres://u:hunter22@db/x")}, nil)
	var later *sink.Later
	if err := s.Send(t.Context(), change()); !errors.As(err, &later) || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("%v", err)
	}
}

// Nothing of a page goes into the address.
func TestAddressIsTheSpecs(t *testing.T) {
	t.Parallel()
	r := listen(t, false, nil)
	for _, format := range Formats() {
		to := r.URL + "/topic?auth=abcdef"
		if err := sender(t, crawl.SinkSpec{To: to, Format: format}, Options{}, r).Send(t.Context(), change()); err != nil {
			t.Fatal(err)
		}
		all := r.all()
		want := "/topic?auth=abcdef"
		if format == "ntfy" {
			want = "/?auth=abcdef"
		}
		if got := all[len(all)-1].path; got != want {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec crawl.SinkSpec
		want string
	}{
		{crawl.SinkSpec{To: "hooks.example"}, "to: this is not an http or https URL"},
		{crawl.SinkSpec{To: "ftp://hooks.example/"}, "to: this is not an http or https URL"},
		{crawl.SinkSpec{To: "https://u:hunter22@hooks.example/"}, "to: leave user and password out of the URL"},
		{crawl.SinkSpec{To: "http://hooks.example:25/"}, "to: port 25 belongs to another protocol and is never asked"},
		{crawl.SinkSpec{To: "https://ntfy.example/a/b", Format: "ntfy"}, "to: for ntfy, write the address of a topic, such as https://ntfy.sh/mytopic"},
		{crawl.SinkSpec{To: "https://hooks.example/", Format: "xml"}, `format: "xml" is not a format of webhooks: use json, slack, discord, ntfy, markdown`},
		{crawl.SinkSpec{To: "https://hooks.example/", Secret: newSecret}, "secret: say where it is, with env:NAME or file:PATH; a secret itself is not taken here, where histories and logs would show it"},
		{crawl.SinkSpec{To: "https://hooks.example/", Secret: "env:A env:B env:C"}, "secret: name at most two: the new one and the old one"},
	} {
		if _, err := New(c.spec, Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
		}
	}
}

func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	r := listen(t, false, nil)
	fifo := t.TempDir()
	for where, want := range map[string]string{
		"env:NONE":       "the variable NONE is empty",
		"env:PASSWORD":   "is not a secret of 24 to 64 bytes",
		"env:SHORT":      "is not a secret of 24 to 64 bytes",
		"file:/no/such":  "no such file",
		"file:" + fifo:   "is not a plain file",
		"file:/dev/zero": "is not a plain file",
	} {
		s := sender(t, crawl.SinkSpec{Secret: where}, Options{Getenv: environment("PASSWORD", "hunter22hunter22hunter22hunter22", "SHORT", "whsec_aHVudGVyMjI=")}, r)
		err := s.Send(t.Context(), change())
		var later *sink.Later
		if !errors.As(err, &later) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "aHVudGVy") {
			t.Errorf("%s: %v, want %q", where, err, want)
		}
	}
	if n := len(r.all()); n != 0 {
		t.Errorf("%d requests without a secret", n)
	}
}

// A cancelled call does not count as a receiver without an answer. A caller's time limit
// does.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := listen(t, false, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	s := sender(t, crawl.SinkSpec{}, Options{}, r)
	err := s.Send(ctx, change())
	var later *sink.Later
	if !errors.Is(err, context.Canceled) || errors.As(err, &later) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if err := s.Send(ctx, change()); !errors.As(err, &later) || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("%v", err)
	}
}
