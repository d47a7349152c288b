package config

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// errPasswordShown refuses a password that every user of the machine could read.
var errPasswordShown = errors.New("--store has a password, which every user of this machine can read in the list of processes: leave it out, and give the whole DSN in the variable " +
	EnvStore + ", or keep the password in the file that PGPASSFILE names (~/.pgpass)")

// errAmbiguous refuses a DSN that would be cut at the wrong place. A part of the
// password would be looked up as the name of a host, and be quoted in errors.
var errAmbiguous = errors.New("the store's user, password or database has a character that ends it in a URL: write @ as %40 and / as %2F")

// passwordWord is a password in libpq's keyword form, or in the rest of a DSN that
// was cut in pieces.
var passwordWord = regexp.MustCompile(`(?i)password\s*=\s*[^\s&]`)

// hasPassword reports whether a DSN holds a password, in any form, right or wrong:
// as libpq reads it, in the user's part or in an option.
func hasPassword(dsn string) bool {
	if strings.HasPrefix(dsn, "sqlite:") {
		return false
	}
	if passwordWord.MatchString(dsn) {
		return true
	}
	user, _, query := partsOf(dsn)
	_, password, _ := strings.Cut(user, ":")
	if password != "" {
		return true
	}
	for option := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(option, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if value != "" && strings.HasSuffix(strings.ToLower(strings.TrimSpace(name)), "password") { // sslpassword too
			return true
		}
	}
	return false
}

// isAmbiguous reports whether a DSN has one @ more than it needs.
func isAmbiguous(dsn string) bool {
	_, rest, _ := partsOf(dsn)
	return strings.Contains(rest, "@")
}

// partsOf splits a DSN into the user's part, with the password, the rest up to the
// options, and these. As in libpq, an @ before the first slash ends the first.
func partsOf(dsn string) (user, rest, query string) {
	_, rest, ok := strings.Cut(dsn, "://")
	if !ok {
		return "", "", ""
	}
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.IndexByte(host, '@'); at >= 0 {
		user, rest = rest[:at], rest[at+1:]
	}
	rest, query, _ = strings.Cut(rest, "?")
	return user, rest, query
}
