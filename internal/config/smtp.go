package config

import (
	"errors"
	"fmt"
	"net/mail"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Variables of the mail server, for sinks of kind mail.
const (
	EnvSMTPHost     = "RECRAWL_SMTP_HOST"
	EnvSMTPPort     = "RECRAWL_SMTP_PORT"
	EnvSMTPUser     = "RECRAWL_SMTP_USER"
	EnvSMTPPassword = "RECRAWL_SMTP_PASSWORD"
	EnvSMTPFrom     = "RECRAWL_SMTP_FROM"
	EnvSMTPTLS      = "RECRAWL_SMTP_TLS"
)

// SMTP is the mail server of sinks.
type SMTP struct {
	Host string // "" if there is none
	Port int
	// User logs in with Password, unless it is "". Password reads it where the operator
	// keeps it, so that a new one takes effect at the next login.
	User     string
	Password func() (string, error)
	From     string // an address, perhaps with a name
	TLS      string // starttls, tls or none
}

// ways are how a connection may be encrypted, with the usual port of each.
var ways = map[string]int{"starttls": 587, "tls": 465, "none": 25}

// load reads the variables; read is that of Load.
func (s *SMTP) load(read func(name string, set func(value string) error), getenv func(string) string) {
	var named []string
	set := func(name string, set func(value string) error) {
		read(name, func(v string) error {
			named = append(named, name)
			return set(v)
		})
	}
	set(EnvSMTPTLS, func(v string) error { s.TLS = strings.ToLower(v); return checkWay(s.TLS) })
	set(EnvSMTPPort, func(v string) (err error) { s.Port, err = parseNumber(v, 1, 65535); return err })
	set(EnvSMTPUser, func(v string) error { s.User = v; return nil })
	set(EnvSMTPPassword, func(v string) (err error) { s.Password, err = parseReference(v, getenv); return err })
	set(EnvSMTPFrom, func(v string) error { s.From = v; return checkAddress(v) })
	read(EnvSMTPHost, func(v string) error { s.Host = v; return checkMailHost(v) })
	for _, name := range named {
		if s.Host == "" {
			read(name, func(string) error { return errors.New("there is no mail server: set " + EnvSMTPHost + " too") })
		}
	}
	if s.Host == "" {
		*s = SMTP{}
		return
	}
	if s.TLS == "" {
		s.TLS = "starttls"
	}
	if s.Port == 0 {
		s.Port = ways[s.TLS]
	}
	read(EnvSMTPHost, func(string) error { return s.complete(named) })
}

// complete reports what is missing.
func (s *SMTP) complete(named []string) error {
	user, password := slices.Contains(named, EnvSMTPUser), slices.Contains(named, EnvSMTPPassword)
	switch {
	case !slices.Contains(named, EnvSMTPFrom):
		return errors.New("mails need a sender: set " + EnvSMTPFrom + " to an address that the server takes")
	case user && !password:
		return errors.New(EnvSMTPUser + " has no password: set " + EnvSMTPPassword + " to file:PATH or env:VARIABLE")
	case password && !user:
		return errors.New(EnvSMTPPassword + " has no user: set " + EnvSMTPUser + " too")
	}
	return nil
}

func checkWay(v string) error {
	if ways[v] == 0 {
		return fmt.Errorf("%q is no way to encrypt: write starttls, tls (from the first byte) or none", v)
	}
	return nil
}

var mailHost = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$|^[0-9A-Fa-f:]+$`)

func checkMailHost(v string) error {
	if !mailHost.MatchString(v) {
		return fmt.Errorf("not a host: write a name or an address alone, and the port into %s", EnvSMTPPort)
	}
	return nil
}

func checkAddress(v string) error {
	if _, err := mail.ParseAddress(v); err != nil {
		return fmt.Errorf("%q is not a mail address: write one, such as crawler@example.org", v)
	}
	return nil
}

// parseReference reads the place of a secret, and checks whether it is there. No error
// repeats a text that may be the secret.
func parseReference(v string, getenv func(string) string) (func() (string, error), error) {
	kind, at, _ := strings.Cut(v, ":")
	var read func() (string, error)
	switch {
	case kind == "file" && at != "":
		read = func() (string, error) { return readSecret(at) }
	case kind == "env" && at != "":
		read = func() (string, error) { return given(at, getenv(at)) }
	default:
		return nil, errors.New("say where the password is, with file:PATH or env:VARIABLE; the password itself is not taken here, where logs and process lists may show it")
	}
	_, err := read()
	return read, err
}

func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("the file %s is empty", path)
	}
	return secret, nil
}

func given(name, value string) (string, error) {
	if value == "" {
		return "", fmt.Errorf("the variable %s is empty", name)
	}
	return value, nil
}
