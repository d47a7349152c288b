package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadSMTP(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(env(EnvSMTPHost, "mail.example.org", EnvSMTPFrom, "recrawl <crawler@example.org>", EnvSMTPUser, "crawler", EnvSMTPPassword, "file:"+file, EnvSinkFolders, "docs=/srv/docs"))
	if err != nil || c.SMTP.Host != "mail.example.org" || c.SMTP.Port != 587 || c.SMTP.TLS != "starttls" || c.SMTP.User != "crawler" || c.SinkFolders["docs"] != "/srv/docs" {
		t.Fatalf("%+v, %v", c.SMTP, err)
	}
	if password, err := c.SMTP.Password(); password != "first" || err != nil {
		t.Errorf("%q, %v", password, err)
	}
	if err := os.WriteFile(file, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if password, err := c.SMTP.Password(); password != "second" || err != nil {
		t.Errorf("after a change: %q, %v", password, err)
	}
	for way, port := range map[string]int{"tls": 465, "NONE": 25} {
		c, err := Load(env(EnvSMTPHost, "::1", EnvSMTPFrom, "crawler@example.org", EnvSMTPTLS, way))
		if err != nil || c.SMTP.Port != port || c.SMTP.TLS != strings.ToLower(way) {
			t.Errorf("%s: %+v, %v", way, c.SMTP, err)
		}
	}
}

func TestLoadSMTPMistakes(t *testing.T) {
	t.Parallel()
	whole := []string{EnvSMTPHost, "mail.example.org", EnvSMTPFrom, "crawler@example.org"}
	for want, pairs := range map[string][]string{
		`RECRAWL_SMTP_FROM: there is no mail server: set RECRAWL_SMTP_HOST too`:                                                                                             {EnvSMTPFrom, "crawler@example.org"},
		`RECRAWL_SMTP_HOST: mails need a sender: set RECRAWL_SMTP_FROM to an address that the server takes`:                                                                 {EnvSMTPHost, "mail.example.org"},
		`RECRAWL_SMTP_HOST: RECRAWL_SMTP_USER has no password: set RECRAWL_SMTP_PASSWORD to file:PATH or env:VARIABLE`:                                                      append(whole, EnvSMTPUser, "crawler"),
		`RECRAWL_SMTP_HOST: RECRAWL_SMTP_PASSWORD has no user: set RECRAWL_SMTP_USER too`:                                                                                   append(whole, EnvSMTPPassword, "env:P", "P", "hunter2"),
		`RECRAWL_SMTP_HOST: not a host: write a name or an address alone, and the port into RECRAWL_SMTP_PORT`:                                                              {EnvSMTPHost, "smtp://u:hunter2@mail", EnvSMTPFrom, "a@b"},
		`RECRAWL_SMTP_PORT: "0" is not a number of 1 to 65535`:                                                                                                              append(whole, EnvSMTPPort, "0"),
		`RECRAWL_SMTP_TLS: "maybe" is no way to encrypt: write starttls, tls (from the first byte) or none`:                                                                 append(whole, EnvSMTPTLS, "maybe"),
		`RECRAWL_SMTP_PASSWORD: the variable P is empty`:                                                                                                                    append(whole, EnvSMTPUser, "u", EnvSMTPPassword, "env:P"),
		`RECRAWL_SMTP_FROM: "crawler" is not a mail address: write one, such as crawler@example.org`:                                                                        {EnvSMTPHost, "mail.example.org", EnvSMTPFrom, "crawler"},
		`RECRAWL_SMTP_PASSWORD: say where the password is, with file:PATH or env:VARIABLE; the password itself is not taken here, where logs and process lists may show it`: append(whole, EnvSMTPUser, "u", EnvSMTPPassword, "hunter2"),
	} {
		if _, err := Load(env(pairs...)); err == nil || err.Error() != want {
			t.Errorf("%v: %v\nwant %s", pairs, err, want)
		}
	}
}
