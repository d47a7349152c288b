package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/sink/mail/mailtest"
	"recrawl/internal/testsite"
)

// TestDigestMail: fifty pages are one mail, even though the mail server is down when it is
// due, and everything is killed meanwhile. It is due when the crawl is stopped; that the
// clock makes it due is shown by TestSinkDigest in package workflows, where time can be
// skipped.
func TestDigestMail(t *testing.T) {
	sideBySide(t, 30)
	const pages = 50
	home := testsite.Page{Path: "/", Title: "Home"}
	host := testsite.Host{Name: "mail.localhost"}
	for n := range pages - 1 {
		home.Links = append(home.Links, fmt.Sprintf("/%d", n))
		host.Pages = append(host.Pages, testsite.Page{Path: fmt.Sprintf("/%d", n), Title: fmt.Sprintf("Page %d", n)})
	}
	host.Pages = append(host.Pages, home)
	site := testsite.New(testsite.Options{Seed: 5, Hosts: []testsite.Host{host}})
	if err := site.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	server := mailtest.Start(t, nil)
	server.SetAnswer(func(command string) string {
		if command == "greeting" {
			return "421 4.3.2 not now"
		}
		return ""
	})
	trusted := write(t, filepath.Join(t.TempDir(), "root.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Root.Raw})))
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{
		"SSL_CERT_FILE=" + trusted, "MAIL_PASSWORD=" + mailtest.Password, "RECRAWL_SMTP_HOST=127.0.0.1", fmt.Sprint("RECRAWL_SMTP_PORT=", server.Port()),
		"RECRAWL_SMTP_USER=" + mailtest.User, "RECRAWL_SMTP_PASSWORD=env:MAIL_PASSWORD", "RECRAWL_SMTP_FROM=crawler@example.org",
	})
	spec, err := json.Marshal(map[string]any{
		"name": "t", "seeds": []string{site.URL(host.Name)},
		"politeness": map[string]any{"delay": "20ms", "factor": 0},
		"revisit":    map[string]any{"policy": "fixed", "default_interval": "1h"},
		"sinks":      map[string]any{"ann": map[string]any{"kind": "mail", "to": "ann@example.com", "every": "12h"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, code, errout := d.starter("crawl", "--spec", write(t, filepath.Join(t.TempDir(), "spec.json"), string(spec))); code != 0 {
		t.Fatalf("starter crawl: %d: %s%s", code, out, errout)
	}
	state := func() sinkState {
		out, _, _ := d.starter("--output", "json", "sinks", "list", "t")
		if all := decodeLines[sinkState](t, out); len(all) == 1 {
			return all[0]
		}
		return sinkState{}
	}
	d.await("every page is visited", d.crawled("t", pages, 1))
	d.must("stop", "t")
	d.await("the mail server is asked", func() bool { s := state(); return s.Tries > 0 && s.Waiting == pages })
	if s := state(); s.State != "retrying" || !strings.Contains(s.Problem, "421") {
		t.Errorf("with the mail server down the sink is %+v", s)
	}
	d.killAll()
	server.SetAnswer(nil)
	d.start()
	d.await("the mail is delivered", func() bool { return state().Waiting == 0 })
	inbox := server.Inbox()
	if len(inbox) != 1 || !inbox[0].TLS || inbox[0].User != mailtest.User || len(inbox[0].To) != 1 || !strings.Contains(inbox[0].To[0], "ann@example.com") {
		t.Fatalf("%d mails came: %+v", len(inbox), inbox)
	}
	text := plainText(t, inbox[0].Data)
	for _, p := range host.Pages {
		if n := strings.Count(text+"\n", site.URL(host.Name)+strings.TrimPrefix(p.Path, "/")+"\n"); n != 1 {
			t.Errorf("the mail names %s %d times:\n%s", p.Path, n, text)
		}
	}
}

// plainText is the text part of a mail, read as a mail program does.
func plainText(t *testing.T, data string) string {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
