package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/sink/mail/mailtest"
)

var at = time.Date(2026, 11, 23, 10, 4, 5, 0, time.UTC)

func event(n int) feed.Event {
	return feed.Event{
		V: 1, ID: fmt.Sprintf("5f2a9c01-%d", n), Kind: feed.PageChanged, At: at, Crawl: "news",
		Page:    &feed.EventPage{ID: int64(n), URL: fmt.Sprintf("https://example.com/%d?a=1&b=2", n), Title: fmt.Sprintf("Prices <%d>", n)},
		Version: &feed.EventVersionOf{Seq: 2}, Before: &feed.EventVersionOf{Seq: 1},
		Diff: &feed.EventDiff{WordsAdded: 3, WordsRemoved: 1, Added: []string{"Now 12 € & more"}, Removed: []string{"Now 10 €"}},
	}
}

func sender(t *testing.T, server Server, to string) *Sender {
	t.Helper()
	s, err := New(crawl.SinkSpec{Kind: "mail", To: to}, server, slog.New(slog.DiscardHandler), func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// settingsOf returns an operator's settings for a server.
func settingsOf(s *mailtest.Server) Server {
	return Server{
		Host: "127.0.0.1", Port: s.Port(), User: mailtest.User, Password: func() (string, error) { return mailtest.Password, nil },
		From: "Recrawl <crawler@example.org>", Roots: s.Roots(),
	}
}

// readMail is a message as a mail program reads it.
type readMail struct {
	header      netmail.Header
	plain, html string
}

func read(t testing.TB, data string) readMail {
	t.Helper()
	m, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(data string) (readMail, error) {
	m, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		return readMail{}, err
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return readMail{}, err
	}
	mail := readMail{header: m.Header}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return mail, nil
		}
		if err != nil {
			return readMail{}, err
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return readMail{}, err
		}
		switch kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); kind {
		case "text/plain":
			mail.plain = strings.ReplaceAll(string(text), "\r\n", "\n")
		case "text/html":
			mail.html = string(text)
		default:
			return readMail{}, fmt.Errorf("a part of type %s", kind)
		}
	}
}

func decodeHeader(s string) (string, error) { return new(mime.WordDecoder).DecodeHeader(s) }

func (m readMail) subject(t testing.TB) string {
	t.Helper()
	s, err := decodeHeader(m.header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A change is one mail, encrypted, by a login, with its difference as text and as HTML.
func TestOneChange(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mailtest.Server){
		StartTLS: nil,
		TLS:      func(s *mailtest.Server) { s.Implicit = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.Start(t, change)
			settings := settingsOf(server)
			settings.Encryption = name
			s := sender(t, settings, "Ann <ann@example.com>, bob@example.net")
			if err := s.Send(t.Context(), event(7)); err != nil {
				t.Fatal(err)
			}
			inbox := server.Inbox()
			if len(inbox) != 1 || !inbox[0].TLS || inbox[0].User != mailtest.User || len(inbox[0].To) != 2 || !strings.Contains(inbox[0].From, "<crawler@example.org>") {
				t.Fatalf("%+v", inbox)
			}
			m := read(t, inbox[0].Data)
			for name, want := range map[string]string{
				"From": `"Recrawl" <crawler@example.org>`, "To": `"Ann" <ann@example.com>, <bob@example.net>`,
				"Date": "Mon, 23 Nov 2026 10:04:05 +0000", "List-Id": "<news.recrawl.example.org>", "Auto-Submitted": "auto-generated",
			} {
				if got := m.header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if got := m.subject(t); got != "[news] Changed: Prices <7>" {
				t.Errorf("subject %q", got)
			}
			want := "Changed: Prices <7>\nhttps://example.com/7?a=1&b=2\nSeen 2026-11-23 10:04 UTC. 3 words added, 1 word removed.\n\n- Now 10 €\n+ Now 12 € & more\n\n-- \nrecrawl, crawl news\n"
			if m.plain != want {
				t.Errorf("text\n%s\nwant\n%s", m.plain, want)
			}
			for _, want := range []string{
				"Changed: Prices &lt;7&gt;", `<a href="https://example.com/7?a=1&amp;b=2" rel="noreferrer">`,
				`<div dir="auto"><del style="color:#b00020">&minus; Now 10 €</del>`, ">&#43; Now 12 € &amp; more</ins>",
			} {
				if !strings.Contains(strings.ReplaceAll(m.html, "+ Now", "&#43; Now"), want) {
					t.Errorf("no %s in\n%s", want, m.html)
				}
			}
		})
	}
}

// A second try of the same event has the same Message-ID, whatever the time; another event,
// and another sink, have others.
func TestMessageID(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	send := func(to string, e feed.Event) {
		t.Helper()
		if err := sender(t, settingsOf(server), to).Send(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	send("ann@example.com", event(1))
	later := event(1)
	later.Page.Title = "Renamed meanwhile"
	send("ann@example.com", later)
	send("ann@example.com", event(2))
	send("bob@example.com", event(1))
	var ids []string
	for _, m := range server.Inbox() {
		ids = append(ids, read(t, m.Data).header.Get("Message-ID"))
	}
	if len(ids) != 4 || ids[0] != ids[1] || ids[0] == ids[2] || ids[0] == ids[3] || !strings.HasSuffix(ids[0], "@example.org>") {
		t.Errorf("%q", ids)
	}
}

// Fifty changes in an hour are one mail. Each has at most twenty lines, and lines without
// room are counted.
func TestDigest(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	d := sink.Digest{ID: "digest-1", Crawl: "news", Sink: "team", From: at.Add(-time.Hour), To: at, Left: 3}
	for n := range 50 {
		e := event(n + 1)
		for i := range 40 {
			e.Diff.Added = append(e.Diff.Added, fmt.Sprintf("added %d of %d", i, n))
		}
		d.Events = append(d.Events, e)
	}
	if err := sender(t, settingsOf(server), "ann@example.com").SendDigest(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	inbox := server.Inbox()
	if len(inbox) != 1 {
		t.Fatalf("%d mails", len(inbox))
	}
	m := read(t, inbox[0].Data)
	if got := m.subject(t); got != "[news] 53 changes" {
		t.Errorf("subject %q", got)
	}
	for n := 1; n <= 50; n++ {
		if heading := fmt.Sprintf("Changed: Prices <%d>\n", n); strings.Count(m.plain, heading) != 1 {
			t.Errorf("%q is not once in it", heading)
		}
	}
	if got := strings.Count(m.plain, "\n+ ") + strings.Count(m.plain, "\n- "); got != 50*maxDigestLines {
		t.Errorf("%d lines", got)
	}
	if !strings.Contains(m.plain, "3 changes more") || strings.Count(m.plain, "… and more.") != 50 || !strings.Contains(m.plain, "from 2026-11-23 09:04 UTC to 2026-11-23 10:04 UTC") {
		t.Errorf("%s", m.plain[:500])
	}
}

// The connection serves many mails, and one that has died meanwhile is replaced.
func TestKeepsConnection(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	s := sender(t, settingsOf(server), "ann@example.com")
	for n := range 3 {
		if err := s.Send(t.Context(), event(n)); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Connected(); n != 1 {
		t.Errorf("%d connections for three mails", n)
	}
	dropped := false
	server.SetAnswer(func(command string) string {
		if command == "RSET" && !dropped {
			dropped = true
			return "drop"
		}
		return ""
	})
	if err := s.Send(t.Context(), event(4)); err != nil {
		t.Fatal(err)
	}
	if n := server.Connected(); n != 2 || len(server.Inbox()) != 4 {
		t.Errorf("%d connections, %d mails", n, len(server.Inbox()))
	}
}

// fails gives one command this answer.
func fails(command, answer string) func(string) string {
	return func(got string) string {
		if strings.HasPrefix(got, command) {
			return answer
		}
		return ""
	}
}

// A server's answer decides what happens next; afterwards the sink goes on.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, answer, want string }{
		{"greeting", "421 too busy", "later"},
		{"greeting", "554 not here", "again"},
		{"greeting", "drop", "again"},
		{"EHLO", "drop", "again"},
		{"STARTTLS", "454 no certificate today", "later"},
		{"AUTH", "454 4.7.0 ask later", "later"},
		{"AUTH", "535 5.7.8 wrong", "stop " + CodeLoginRefused},
		{"AUTH", "drop", "again"},
		{"MAIL", "451 4.3.0 disk", "later"},
		{"MAIL", "530 5.7.0 authenticate first", "stop " + CodeLoginRefused},
		{"MAIL", "553 5.7.1 not your address", "stop " + CodeSenderRefused},
		{"MAIL", "drop", "again"},
		{"RCPT", "450 4.2.0 greylisted", "later"},
		{"RCPT", "550 5.1.1 no such user", "refused 550"},
		{"RCPT", "drop", "again"},
		{"DATA", "451 later", "later"},
		{"DATA", "554 no", "refused 554"},
		{"DATA", "drop", "again"},
		{".", "452 4.3.1 full", "later"},
		{".", "550 5.7.1 spam", "refused 550"},
		{".", "552 5.3.4 too big", "refused 552"},
		{".", "drop", "again"},
	} {
		t.Run(c.command+" "+c.answer, func(t *testing.T) {
			t.Parallel()
			server := mailtest.Start(t, nil)
			s := sender(t, settingsOf(server), "ann@example.com")
			server.SetAnswer(fails(c.command, c.answer))
			err := s.Send(t.Context(), event(1))
			if got := kindOf(err); got != c.want {
				t.Errorf("%s: %v, want %s", got, err, c.want)
			}
			if err == nil || strings.Contains(err.Error(), mailtest.Password) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%v", err)
			}
			server.SetAnswer(nil)
			if err := s.Send(t.Context(), event(1)); err != nil {
				t.Errorf("the next try: %v", err)
			}
			inbox := server.Inbox()
			if taken := len(inbox); taken != 1 && (taken != 2 || c.command != "." || c.answer != "drop") {
				t.Errorf("%d mails", taken)
			}
			if first, last := inbox[0], inbox[len(inbox)-1]; read(t, first.Data).header.Get("Message-ID") != read(t, last.Data).header.Get("Message-ID") {
				t.Error("a mail that was sent twice has two names")
			}
		})
	}
}

func kindOf(err error) string {
	var later *sink.Later
	var refused *sink.Refused
	var stop *sink.Stop
	switch {
	case err == nil:
		return "sent"
	case errors.As(err, &later):
		return "later"
	case errors.As(err, &refused):
		return fmt.Sprintf("refused %d", refused.Status)
	case errors.As(err, &stop):
		return "stop " + stop.Code
	}
	return "again"
}

// If a receiver is refused for good, the others still get the mail. If one is taken only
// later, nobody gets it yet, so that nobody gets it twice.
func TestSomeReceivers(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	s := sender(t, settingsOf(server), "ann@example.com, bob@example.com, eve@example.com")
	server.SetAnswer(fails("RCPT TO:<bob@", "550 5.1.1 no such user"))
	err := s.Send(t.Context(), event(1))
	var refused *sink.Refused
	if !errors.As(err, &refused) || !refused.Final || refused.Status != 550 || !strings.Contains(refused.Reason, "bob@example.com (550 5.1.1 no such user); the other 2 have the mail") {
		t.Errorf("%v", err)
	}
	if inbox := server.Inbox(); len(inbox) != 1 {
		t.Errorf("%d mails", len(inbox))
	}
	server.SetAnswer(fails("RCPT TO:<bob@", "450 4.2.2 mailbox full"))
	if err := s.Send(t.Context(), event(2)); kindOf(err) != "later" || !strings.Contains(err.Error(), "bob@example.com") {
		t.Errorf("%v", err)
	}
	server.SetAnswer(fails("RCPT", "550 5.1.1 no such user"))
	if err := s.Send(t.Context(), event(2)); !errors.As(err, &refused) || refused.Final {
		t.Errorf("all are refused: %v", err)
	}
	if inbox := server.Inbox(); len(inbox) != 1 {
		t.Errorf("%d mails", len(inbox))
	}
}

// Without STARTTLS nothing is sent, unless the operator allows it. A password then still
// never goes in the clear to another machine.
func TestNoStartTLS(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, func(s *mailtest.Server) { s.NoTLS = true })
	err := sender(t, settingsOf(server), "ann@example.com").Send(t.Context(), event(1))
	if kindOf(err) != "again" || !strings.Contains(err.Error(), "does not offer STARTTLS") || !strings.Contains(err.Error(), "RECRAWL_SMTP_TLS") {
		t.Errorf("%v", err)
	}
	if heard := server.Heard(); strings.Contains(heard, "AUTH") || strings.Contains(heard, "MAIL") {
		t.Errorf("said in the clear:\n%s", heard)
	}
	settings := settingsOf(server)
	settings.Encryption = Plain
	if err := sender(t, settings, "ann@example.com").Send(t.Context(), event(1)); err != nil {
		t.Errorf("allowed: %v", err)
	}
	if inbox := server.Inbox(); len(inbox) != 1 || inbox[0].TLS {
		t.Errorf("%+v", inbox)
	}
	far := Server{Host: "mail.example.org", User: mailtest.User}
	if mechanism := far.mechanism(plainClient(t), []string{"PLAIN", "LOGIN"}, mailtest.Password); mechanism != nil {
		t.Errorf("a password in the clear: %T", mechanism)
	}
}

// An untrusted certificate ends the connection before the login.
func TestForeignCertificate(t *testing.T) {
	t.Parallel()
	for name, implicit := range map[string]bool{StartTLS: false, TLS: true} {
		server := mailtest.Start(t, func(s *mailtest.Server) { s.Implicit = implicit })
		settings := settingsOf(server)
		settings.Encryption, settings.Roots = name, mailtest.Start(t, nil).Roots()
		if err := sender(t, settings, "ann@example.com").Send(t.Context(), event(1)); kindOf(err) != "again" || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
		if heard := server.Heard(); strings.Contains(heard, "AUTH") {
			t.Errorf("%s: %s", name, heard)
		}
	}
}

// No word of a login gets into an error or a log, even if the server repeats it.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	settings := settingsOf(server)
	const wrong = "hunter2 and more"
	settings.Password = func() (string, error) { return wrong, nil }
	var log bytes.Buffer
	s, err := New(crawl.SinkSpec{Kind: "mail", To: "ann@example.com"}, settings, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Send(t.Context(), event(1))
	if kindOf(err) != "stop "+CodeLoginRefused || strings.Contains(err.Error()+log.String(), "hunter2") || !strings.Contains(err.Error(), "***") {
		t.Errorf("%v\n%s", err, log.String())
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", settings, settings, settings), "hunter2") {
		t.Error("the settings print the password")
	}
	settings.Password = func() (string, error) { return "", errors.New("the variable NO_SUCH is empty") }
	if err := sender(t, settings, "ann@example.com").Send(t.Context(), event(1)); kindOf(err) != "again" || !strings.Contains(err.Error(), "RECRAWL_SMTP_PASSWORD: the variable NO_SUCH is empty") {
		t.Errorf("%v", err)
	}
}

// Nobody listens: the sink tries again.
func TestNoServer(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	settings := settingsOf(server)
	server.Close()
	if err := sender(t, settings, "ann@example.com").Send(t.Context(), event(1)); kindOf(err) != "again" || !strings.Contains(err.Error(), "mail server 127.0.0.1:") {
		t.Errorf("%v", err)
	}
}

// A silent server is left when the caller's time is up.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	server.SetAnswer(func(command string) string {
		if strings.HasPrefix(command, "EHLO") {
			cancel()
			<-release
		}
		return ""
	})
	if err := sender(t, settingsOf(server), "ann@example.com").Send(ctx, event(1)); kindOf(err) != "again" {
		t.Errorf("%v", err)
	}
}

func TestBadSettings(t *testing.T) {
	t.Parallel()
	good := Server{Host: "mail.example.org", Port: 587, From: "crawler@example.org"}
	for want, c := range map[string]struct {
		server Server
		to     string
	}{
		"RECRAWL_SMTP_HOST": {Server{}, "ann@example.com"},
		"RECRAWL_SMTP_FROM": {Server{Host: "mail.example.org", From: "nobody"}, "ann@example.com"},
		"is not a list":     {good, "ann"},
		"too many":          {good, strings.Repeat("ann@example.com,", 100) + "bob@example.com"},
		"not a mail addr":   {good, `"a b"@example.com`},
	} {
		_, err := New(crawl.SinkSpec{To: c.to}, c.server, slog.New(slog.DiscardHandler), time.Now)
		var stop *sink.Stop
		if !errors.As(err, &stop) || stop.Code == "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
