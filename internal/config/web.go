package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Variables of the page for operators.
const (
	EnvWebToken     = "RECRAWL_WEB_TOKEN"
	EnvWebReadToken = "RECRAWL_WEB_READ_TOKEN"
	EnvWebHosts     = "RECRAWL_WEB_HOSTS"
	EnvWebUI        = "RECRAWL_WEB_UI"
)

// Web says who may use the page for operators.
type Web struct {
	// Token lets people look and press buttons, ReadToken lets them look; "" means none.
	Token, ReadToken string
	// Hosts are the names by which people reach the page, besides localhost and addresses.
	Hosts []string
	// UI is the address of the Temporal UI as browsers reach it, for links to workflows, such
	// as http://127.0.0.1:8080; "" if there is none.
	UI string
}

// leastToken is the least length of a token: no list of words has all of that length.
const leastToken = 16

// load reads the variables; read is that of Load.
func (w *Web) load(read func(name string, set func(value string) error), getenv func(string) string) {
	read(EnvWebToken, func(v string) (err error) { w.Token, err = parseToken(v, getenv); return err })
	read(EnvWebReadToken, func(v string) (err error) { w.ReadToken, err = parseToken(v, getenv); return err })
	read(EnvWebReadToken, func(string) error {
		if w.ReadToken != "" && w.ReadToken == w.Token {
			return errors.New("it is the same as " + EnvWebToken + ": whoever may only look needs another one")
		}
		return nil
	})
	read(EnvWebHosts, func(v string) (err error) { w.Hosts, err = parseWebHosts(v); return err })
	read(EnvWebUI, func(v string) (err error) { w.UI, err = parseWebUI(v); return err })
}

// parseToken reads a token, or its place. No error repeats it.
func parseToken(v string, getenv func(string) string) (string, error) {
	if kind, _, ok := strings.Cut(v, ":"); ok && (kind == "file" || kind == "env") {
		secret, err := parseReference(v, getenv)
		if err != nil {
			return "", err
		}
		if v, err = secret(); err != nil {
			return "", err
		}
	}
	if len(v) < leastToken || strings.ContainsAny(v, " \t\r\n") {
		return "", fmt.Errorf("a token has at least %d characters and no spaces: `openssl rand -hex 16` makes one", leastToken)
	}
	return v, nil
}

// parseWebHosts reads names, with spaces or commas between.
func parseWebHosts(v string) ([]string, error) {
	var hosts []string
	for _, host := range strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' }) {
		if strings.ContainsAny(host, ":/*@") {
			return nil, fmt.Errorf("%q is not a name: write names alone, such as crawl.example.org, without a scheme or a port", host)
		}
		hosts = append(hosts, strings.ToLower(strings.TrimSuffix(host, ".")))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// parseWebUI checks the address of the Temporal UI.
func parseWebUI(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is not an address: write that of the Temporal UI, such as http://127.0.0.1:8080", v)
	}
	return v, nil
}

// CheckListen reports what is wrong with listening at host:port, or returns nil: anybody
// who can reach the page can use it, so beyond this machine it asks for a token.
func (w Web) CheckListen(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not where one can listen: write HOST:PORT, such as 127.0.0.1:8234", address)
	}
	if w.Token != "" || w.ReadToken != "" || host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s can be reached from other machines, and there is no token: set %s, or %s for a page that can only be read", address, EnvWebToken, EnvWebReadToken)
}
