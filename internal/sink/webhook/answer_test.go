package webhook

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"recrawl/internal/crawl"
	"recrawl/internal/sink"
)

// outcome names the result of Send.
func outcome(err error) string {
	var refused *sink.Refused
	var later *sink.Later
	var stop *sink.Stop
	switch {
	case err == nil:
		return "delivered"
	case errors.As(err, &refused):
		return fmt.Sprintf("refused %d", refused.Status)
	case errors.As(err, &later):
		return "later"
	case errors.As(err, &stop):
		return "stop " + stop.Code
	}
	return err.Error()
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	var status int
	r := listen(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	s := sender(t, crawl.SinkSpec{}, Options{}, r)
	for status = 200; status <= 599; status++ {
		want := fmt.Sprintf("refused %d", status)
		switch {
		case status < 300:
			want = "delivered"
		case status == 410:
			want = "stop gone"
		case status == 408, status == 425, status == 429, status >= 500:
			want = "later"
		}
		err := s.Send(t.Context(), change())
		if got := outcome(err); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("127.0.0.1 answered %d", status)) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	var header string
	r := listen(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", header)
		w.WriteHeader(http.StatusTooManyRequests)
	})
	s := sender(t, crawl.SinkSpec{}, Options{Now: func() time.Time { return noon }}, r)
	for h, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "0": 0, "90": 90 * time.Second, "99999999999999999999": maxAfter,
		noon.Add(2 * time.Hour).Format(http.TimeFormat): 2 * time.Hour,
		noon.AddDate(9, 0, 0).Format(http.TimeFormat):   maxAfter,
	} {
		header = h
		var later *sink.Later
		if err := s.Send(t.Context(), change()); !errors.As(err, &later) || later.After != want {
			t.Errorf("%q: %+v, want %s", h, err, want)
		}
	}
}

// A redirect is not followed, least of all to where a cloud keeps its secrets.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	inside := listen(t, false, nil)
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", inside.URL} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			r := listen(t, false, func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, to, status) })
			err := sender(t, crawl.SinkSpec{}, Options{}, r).Send(t.Context(), change())
			if got := outcome(err); got != fmt.Sprintf("refused %d", status) || !strings.Contains(err.Error(), "redirects are not followed") {
				t.Errorf("%d to %s: %s: %v", status, to, got, err)
			}
			if n := len(r.all()); n != 1 {
				t.Errorf("%d to %s: %d requests", status, to, n)
			}
		}
	}
	if n := len(inside.all()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// The text of an answer is quoted, cleaned and cut.
func TestAnswersAreQuoted(t *testing.T) {
	t.Parallel()
	var body string
	r := listen(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, body)
	})
	s := sender(t, crawl.SinkSpec{}, Options{}, r)
	for said, want := range map[string]string{
		"":                             "127.0.0.1 answered 400 Bad Request",
		"no such field\n":              "127.0.0.1 answered 400 Bad Request: no such field",
		"a\x1b[31m\x00b\u202ec\xff":    "127.0.0.1 answered 400 Bad Request: a [31m bc\uFFFD",
		strings.Repeat("ä", 3_000_000): "127.0.0.1 answered 400 Bad Request: " + strings.Repeat("ä", 100),
	} {
		body = said
		err := s.Send(t.Context(), change())
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: %.300v", said, err)
		}
	}
}

// Receivers that keep us waiting, or do not speak HTTP.
func TestReceiversThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	wait := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() } // the sender has closed
	drip := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, "busy")
			w.(http.Flusher).Flush()
			wait(w, r)
		}
	}
	flood := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	}
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, answer)
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		limit  time.Duration
		want   string
		words  string
	}{
		{"never answers", wait, 100 * time.Millisecond, "later", "127.0.0.1 did not answer in time"},
		{"drips a success", drip(200), time.Minute, "delivered", ""},
		{"drips a refusal", drip(422), time.Minute, "refused 422", "busy"},
		{"has no end", flood, time.Minute, "delivered", ""},
		{"closes", raw(""), time.Minute, "later", "closed the connection"},
		{"closes in its head", raw("HTTP/1.1 200 O"), time.Minute, "later", "closed the connection"},
		{"closes in its body", raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\nhalf"), time.Minute, "refused 400", "half"},
		{"has a head without end", raw("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)), time.Minute, "later", ""},
		{"speaks no HTTP", raw("SSH-2.0-OpenSSH_9.7\r\n"), time.Minute, "later", "not HTTP"},
		{"switches protocols", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), time.Minute, "refused 101", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := listen(t, false, c.answer)
			s := sender(t, crawl.SinkSpec{}, Options{TimeLimit: c.limit}, r)
			var err error
			// A busy machine may take longer to bring the words; those without an end never come whole.
			for s.patience = 10 * time.Millisecond; s.patience < time.Hour; s.patience *= 2 {
				if err = s.Send(t.Context(), change()); err == nil || strings.Contains(err.Error(), c.words) {
					break
				}
			}
			if got := outcome(err); got != c.want || err != nil && !strings.Contains(err.Error(), c.words) {
				t.Errorf("%s: %v, want %s: %s", got, err, c.want, c.words)
			}
		})
	}
}

// nobody returns an address at which nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	return "http://" + closed.Addr().String()
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := sender(t, crawl.SinkSpec{To: nobody(t)}, Options{}, nil)
	if err := s.Send(t.Context(), change()); outcome(err) != "later" || !strings.Contains(err.Error(), "refused the connection") {
		t.Errorf("%v", err)
	}
	secure := listen(t, true, nil)
	s = sender(t, crawl.SinkSpec{To: secure.URL}, Options{}, nil) // trusts nobody like it
	if err := s.Send(t.Context(), change()); outcome(err) != "later" || !strings.Contains(err.Error(), "signed by nobody we trust") {
		t.Errorf("%v", err)
	}
	if n := len(secure.all()); n != 0 {
		t.Error("a request went to a receiver with a wrong certificate")
	}
}

// No error shows a secret, nor the parts of an address that let others write there, even if
// the receiver repeats them.
func TestSecretsStandInNoError(t *testing.T) {
	t.Parallel()
	const token, value = "xoxbTOKENTOKEN", "s3cr3tv4lue"
	path := "/services/T01234567/" + token
	told := []string{newSecret, strings.TrimPrefix(newSecret, "whsec_"), oldSecret, token, value, path, "T01234567"}
	status, padding := 0, 0
	r := listen(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, strings.Repeat("x", padding)+" "+strings.Join(told, " | "))
	})
	spec := crawl.SinkSpec{To: r.URL + path + "?key=" + value, Secret: "env:NEW env:OLD"}
	s := sender(t, spec, Options{}, r)
	dead := sender(t, crawl.SinkSpec{To: nobody(t) + path + "?key=" + value, Secret: "env:NEW"}, Options{Getenv: secrets}, nil)
	check := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("no error")
			return
		}
		for _, secret := range told {
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
				t.Errorf("the error shows %s: %v", secret, err)
			}
		}
	}
	check(dead.Send(t.Context(), change()))
	for _, status = range []int{302, 400, 410, 500} {
		for _, padding = range []int{0, 100, 150, 180, maxAnswer - 30} {
			check(s.Send(t.Context(), change()))
		}
	}
}

// An answer that is cut within a secret does not show its head.
func TestCutSecretIsHidden(t *testing.T) {
	t.Parallel()
	path := "/" + strings.Repeat("0123456789", 300)
	body := (path + path)[:maxAnswer]
	problem := answer{status: 400, body: []byte(body)}.problem("hooks.example", newHider(&url.URL{Path: path}, nil))
	if problem != "hooks.example answered 400 Bad Request: [hidden]" {
		t.Error(problem)
	}
}

func TestProblemsAreShort(t *testing.T) {
	t.Parallel()
	a := answer{status: 400, body: []byte(strings.Repeat("€", 1000))}
	p := a.problem("h", nil)
	if _, said, _ := strings.Cut(p, "Request: "); len(said) > maxSaid || !utf8.ValidString(p) {
		t.Errorf("%d bytes: %s", len(said), p)
	}
	if err := a.judge("h", nil, noon); !reflect.DeepEqual(err, error(&sink.Refused{Status: 400, Reason: p})) {
		t.Errorf("%+v", err)
	}
}
