package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// place is the place of a text that a spec only names.
type place struct{ kind, at string }

// Kinds of places.
const (
	literal = ""
	inEnv   = "env"
	inFile  = "file"
)

// parsePlace reads env:NAME and file:PATH.
func parsePlace(text string) (place, bool) {
	kind, at, _ := strings.Cut(text, ":")
	return place{kind, at}, at != "" && (kind == inEnv || kind == inFile)
}

// maxText bounds the bytes read from a file: no secret and no address is longer.
const maxText = 8 << 10

// read gets the text. No error repeats any of it.
func (p place) read(getenv func(string) string) (string, error) {
	switch p.kind {
	case inEnv:
		if text := getenv(p.at); text != "" {
			return text, nil
		}
		return "", fmt.Errorf("the variable %s is empty on this worker", p.at)
	case inFile:
		return readFile(p.at)
	}
	return p.at, nil
}

// readFile reads a plain file: anything else might have no end.
func readFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a plain file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText))
	return string(text), err
}

// parseSecrets reads where one or two secrets are.
func parseSecrets(text string) ([]place, error) {
	var all []place
	for _, word := range strings.Fields(text) {
		p, ok := parsePlace(word)
		if !ok {
			return nil, errors.New("say where it is, with env:NAME or file:PATH; a secret itself is not taken here, where histories and logs would show it")
		}
		all = append(all, p)
	}
	if len(all) > 2 {
		return nil, errors.New("name at most two: the new one and the old one")
	}
	return all, nil
}

// key is a secret that signs, with its spellings.
type key struct {
	bytes []byte
	text  string // without the prefix
}

const secretPrefix = "whsec_"

// keys returns the present secrets.
func (s *Sender) keys() ([]key, error) {
	var all []key
	for _, p := range s.secrets {
		text, err := p.read(s.options.Getenv)
		if err != nil {
			return nil, err
		}
		k, err := parseKey(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%s %w", p.kind, p.at, err)
		}
		all = append(all, k)
	}
	return all, nil
}

// parseKey reads a secret in the standard's form. The prefix is required: the author of a
// spec may name any variable, and must not get a signature made with a password.
func parseKey(text string) (key, error) {
	encoded, ok := strings.CutPrefix(strings.TrimSpace(text), secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) < 24 || len(secret) > 64 {
		return key{}, errors.New(`is not a secret of 24 to 64 bytes in base64 behind whsec_: make one with echo "whsec_$(openssl rand -base64 32)"`)
	}
	return key{secret, encoded}, nil
}

// sign makes the signatures of a message, one for each key, in the form of the header.
func sign(keys []key, id string, at time.Time, body []byte) string {
	var all []string
	for _, k := range keys {
		mac := hmac.New(sha256.New, k.bytes)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}
